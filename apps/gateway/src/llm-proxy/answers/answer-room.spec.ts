import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { LlmAnswer } from '#contracts';
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import { FairShare } from '../../fair-share.js';
import { AnswerReader } from './answer-reader.js';
import { AnswerRoom } from './answer-room.js';
import { InflatedReader } from './inflated-reader.js';

const MEBIBYTE = 1024 * 1024;
const EVENTS = ['content-type', 'text/event-stream'];
const USAGE = '"usage":{"prompt_tokens":9,"completion_tokens":3}';
const LONG = 'x'.repeat(MEBIBYTE);
const event = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;

interface Given {
  kind: string;
  isStream: boolean;
  /** @param content of the model's message */
  write: (content: string) => string;
}

const WHOLE: Given = {
  kind: 'whole',
  isStream: false,
  write: (content) => `{"choices":[{"message":{"content":"${content}"}}],${USAGE}}`,
};
const ANSWERS: Given[] = [
  WHOLE,
  {
    kind: 'of many events',
    isStream: true,
    write: (content) =>
      `${content.replaceAll(/.{1,4096}/g, event)}data: {"choices":[],${USAGE}}\n\ndata: [DONE]\n\n`,
  },
  {
    kind: 'of one event',
    isStream: true,
    write: (content) => `${event(content)}data: {"choices":[],${USAGE}}\n\ndata: [DONE]\n\n`,
  },
];

/** Of two such answers, and of one as a tenant's half. */
const newShare = () => new FairShare({ max: 3 * MEBIBYTE, onFull: () => {} });

/** In pieces, each in a turn of its own. */
async function push(reader: AnswerReader | InflatedReader<LlmAnswer>, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += 8_192) {
    reader.push(bytes.subarray(at, at + 8_192));
    await new Promise(setImmediate);
  }
}

async function begin(answerBytes: FairShare, { isStream, write }: Given, content: string) {
  const room = new AnswerRoom('default', answerBytes);
  const reader = AnswerReader.for(DIALECT_BY_NAME['openai-chat'], isStream ? EVENTS : [], isStream, room);
  await push(reader, Buffer.from(write(content)));
  return { room, reader };
}

test.each(ANSWERS)('what answers keep while they are read has a bound: $kind', async (given) => {
  const answerBytes = newShare();
  const first = await begin(answerBytes, given, LONG);
  const second = await begin(answerBytes, given, LONG);
  const short = await begin(answerBytes, given, 'short');
  expect(answerBytes.taken).toBeGreaterThan(0.9 * MEBIBYTE);
  expect(answerBytes.taken).toBeLessThanOrEqual(1.5 * MEBIBYTE);

  const usage = { input_tokens: 9, output_tokens: 3 };
  expect(first.reader.finish()).toMatchObject({ text: LONG, usage });
  // It is not read, but what it took is known.
  expect(second.reader.finish()).toMatchObject({ text: '', usage });
  expect(short.reader.finish()).toMatchObject({ text: 'short', usage });

  for (const { room } of [first, second, short]) room.leave();
  expect(answerBytes.taken).toBe(0);
  expect((await begin(answerBytes, given, LONG)).reader.finish()).toMatchObject({ text: LONG });
});

test.each([
  { encoding: 'gzip', compress: gzipSync },
  { encoding: 'br', compress: brotliCompressSync },
])('few bytes that inflate to many find no more room: $encoding', async ({ encoding, compress }) => {
  const answerBytes = newShare();
  const room = new AnswerRoom('default', answerBytes);
  const reader = AnswerReader.for(DIALECT_BY_NAME['openai-chat'], [], false, room);
  const inflated = InflatedReader.for([encoding], reader, room) as InflatedReader<LlmAnswer>;
  await push(inflated, Buffer.from(compress(WHOLE.write('x'.repeat(8 * MEBIBYTE)))));
  await inflated.finish();
  expect(answerBytes.taken).toBeGreaterThan(MEBIBYTE);
  expect(answerBytes.taken).toBeLessThanOrEqual(1.5 * MEBIBYTE);
});

test('what is inflated when its call has ended takes nothing', () => {
  const answerBytes = newShare();
  const room = new AnswerRoom('default', answerBytes);
  const mayKeep = room.keeper();
  expect(mayKeep(MEBIBYTE)).toBe(true);
  room.leave();
  expect(mayKeep(1.2 * MEBIBYTE)).toBe(false);
  expect(answerBytes.taken).toBe(0);
});

test('what a reader keeps is taken once, from its own tenant alone, and given back once', () => {
  const answerBytes = newShare();
  const roomOf = (tenantId: string) => new AnswerRoom(tenantId, answerBytes);
  const [first, second, other] = [roomOf('one'), roomOf('one'), roomOf('other')];
  const mayKeep = first.keeper();
  for (const keptCount of [MEBIBYTE / 2, MEBIBYTE / 2, MEBIBYTE]) expect(mayKeep(keptCount)).toBe(true);
  const { taken } = answerBytes;
  expect(taken).toBeLessThan(MEBIBYTE);
  expect(second.keeper()(MEBIBYTE)).toBe(false);
  expect(other.keeper()(MEBIBYTE)).toBe(true);
  for (const left of [first, first]) left.leave();
  expect(answerBytes.taken).toBe(taken);
});
