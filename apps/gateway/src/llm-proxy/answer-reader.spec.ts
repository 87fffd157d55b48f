import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type Dialect, dialectFor } from '#domain/llm-dialects';
import { AnswerReader } from './answer-reader.js';

const CHAT = dialectFor('openai', 'POST', '/chat/completions') as Dialect;
const EVENT = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n');
const EVENTS = ['content-type', 'text/event-stream'];

test('an event is read once it has left for the client, and not before', async () => {
  const bytesLeft: number[] = [];
  const server = createServer((request, response) => {
    const watched: Dialect = {
      ...CHAT,
      streamReader() {
        const reader = CHAT.streamReader();
        const push = reader.push.bind(reader);
        reader.push = (chunk) => {
          bytesLeft.push(request.socket.bytesWritten);
          push(chunk);
        };
        return reader;
      },
    };
    const reader = AnswerReader.for(watched, EVENTS, true) as AnswerReader;
    // In a turn of its own, as an upstream's answer comes.
    setImmediate(() => {
      reader.push(EVENT);
      response.end(EVENT);
    });
  }).listen(0);
  await once(server, 'listening');
  const [answer] = (await once(get({ port: (server.address() as AddressInfo).port }), 'response')) as [
    IncomingMessage,
  ];
  answer.resume();
  await once(answer, 'end');
  server.close();
  expect(bytesLeft).toEqual([expect.any(Number)]);
  expect(bytesLeft[0]).toBeGreaterThan(EVENT.length);
});

test('an answer that ends at once is read whole, in the order it came', () => {
  const reader = AnswerReader.for(CHAT, EVENTS, true) as AnswerReader;
  for (const at of [0, 10, 20, 30]) reader.push(EVENT.subarray(at, at === 30 ? undefined : at + 10));
  expect(reader.finish()).toMatchObject({ text: 'Hello' });
});

test('a reader that fails leaves the answer unread, and nobody else hurt', async () => {
  const failing: Dialect = {
    ...CHAT,
    streamReader: () => ({
      ...CHAT.streamReader(),
      push() {
        throw new Error('nobody foresaw this');
      },
    }),
  };
  const reader = AnswerReader.for(failing, EVENTS, true) as AnswerReader;
  reader.push(EVENT);
  await new Promise((resolve) => setImmediate(resolve));
  expect(reader.finish()).toBeNull();
});
