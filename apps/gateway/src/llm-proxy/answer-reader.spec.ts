import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type Dialect, dialectFor } from '#domain/llm-dialects';
import { AnswerReader } from './answer-reader.js';

const CHAT = dialectFor('openai', 'POST', '/chat/completions') as Dialect;
const EVENT = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n');
const LONG_EVENT = Buffer.from(EVENT.toString().replace('Hello', 'x'.repeat(4_096)));
/** So many of them are read at once. */
const CHUNKS_TOGETHER = 4;
const EVENTS = ['content-type', 'text/event-stream'];

test('events are read together, once the last of them has left for the client', async () => {
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
    const reader = AnswerReader.for(watched, EVENTS, true);
    // In a turn of its own each, as an upstream's chunks come.
    const send = (count: number) => {
      reader.push(LONG_EVENT);
      response.write(LONG_EVENT);
      if (count > 1) setImmediate(send, count - 1);
      else response.end();
    };
    setImmediate(send, CHUNKS_TOGETHER);
  }).listen(0);
  await once(server, 'listening');
  const [answer] = (await once(get({ port: (server.address() as AddressInfo).port }), 'response')) as [
    IncomingMessage,
  ];
  answer.resume();
  await once(answer, 'end');
  server.close();
  expect(bytesLeft).toHaveLength(CHUNKS_TOGETHER);
  expect(bytesLeft[0]).toBeGreaterThan(CHUNKS_TOGETHER * LONG_EVENT.length);
});

test('a stream in tiny pieces is read before they are many', async () => {
  let readCount = 0;
  const counting: Dialect = {
    ...CHAT,
    streamReader: () => ({
      ...CHAT.streamReader(),
      push() {
        readCount += 1;
      },
    }),
  };
  const reader = AnswerReader.for(counting, EVENTS, true);
  for (let count = 0; count < 1_000; count += 1) {
    reader.push(Buffer.from('x'));
    await null;
  }
  expect(readCount).toBeGreaterThan(900);
});

test('an answer that ends at once is read whole, in the order it came', () => {
  const reader = AnswerReader.for(CHAT, EVENTS, true);
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
  const reader = AnswerReader.for(failing, EVENTS, true);
  for (let count = 0; count < CHUNKS_TOGETHER; count += 1) reader.push(LONG_EVENT);
  await new Promise((resolve) => setImmediate(resolve));
  expect(reader.finish()).toBeNull();
});
