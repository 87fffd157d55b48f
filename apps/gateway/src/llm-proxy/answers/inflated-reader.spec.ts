import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import { AnswerReader } from './answer-reader.js';
import { newRoom } from './answer-room.fixture.js';
import { InflatedReader } from './inflated-reader.js';

const EVENTS = ['content-type', 'text/event-stream'];
const json = JSON.stringify;
const usage = { prompt_tokens: 9, completion_tokens: 3 };
const WHOLE = json({ choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }], usage });
const event = (content: string) => `data: ${json({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const STREAM = `${event('Hel')}${event('lo')}data: ${json({ choices: [], usage })}\n\ndata: [DONE]\n\n`;

/** In pieces, each by itself. */
async function read(encoding: string, bytes: Buffer, headers: string[] = []) {
  const reader = AnswerReader.for(DIALECT_BY_NAME['openai-chat'], headers, headers === EVENTS, newRoom());
  const inflated = InflatedReader.for(encoding.split(', '), reader, newRoom());
  const step = Math.max(7, Math.ceil(bytes.length / 100));
  for (let at = 0; at < bytes.length; at += step) {
    inflated?.push(bytes.subarray(at, at + step));
    await null;
  }
  return inflated?.finish();
}

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['gzip, br', (text: string) => brotliCompressSync(gzipSync(text))],
  ['br', brotliCompressSync],
])('an answer in %s is read, whole and as a stream', async (encoding, compress) => {
  const expected = { text: 'Hello', usage: { input_tokens: 9, output_tokens: 3 } };
  expect(await read(encoding, compress(WHOLE))).toMatchObject(expected);
  expect(await read(encoding, compress(STREAM), EVENTS)).toMatchObject(expected);
});

test('a stream that is cut off is read as far as it came', async () => {
  const bytes = gzipSync(STREAM + 'x'.repeat(100_000), { level: 0 });
  expect(await read('gzip', bytes.subarray(0, 100), EVENTS)).toMatchObject({ text: 'Hel', finish: null });
  expect(await read('gzip', Buffer.concat([bytes, Buffer.from('no gzip')]), EVENTS)).toMatchObject({
    text: 'Hello',
  });
});

test('what does not inflate is unread', async () => {
  expect(await read('gzip', Buffer.from(WHOLE))).toBeNull();
  expect(await read('br', Buffer.from(WHOLE))).toBeNull();
  expect(await read('gzip', Buffer.alloc(0))).toBeNull();
  for (const encoding of ['gzip, zstd', 'gzip, gzip, gzip', 'zstd', 'toString', ''])
    expect(await read(encoding, gzipSync(WHOLE))).toBeUndefined();
});

test('few bytes that would inflate to very many are unread', async () => {
  const blanks = (mebibytes: number) => gzipSync(Buffer.alloc(mebibytes * 1024 * 1024, ' '));
  // Members of one file, of which each is read.
  const spaced = (mebibytes: number) => Buffer.concat([blanks(mebibytes), gzipSync(WHOLE)]);
  expect(await read('gzip', spaced(63))).toMatchObject({ text: '', usage: { input_tokens: 9 } });
  expect(await read('gzip', spaced(64))).toBeNull();
});

test('more bytes at once than wait to be inflated are unread', async () => {
  const reader = AnswerReader.for(DIALECT_BY_NAME['openai-chat'], [], false, newRoom());
  const inflated = InflatedReader.for(['gzip'], reader, newRoom());
  for (const bytes of [gzipSync(WHOLE), Buffer.alloc(1024 * 1024), Buffer.alloc(1)]) inflated?.push(bytes);
  expect(await inflated?.finish()).toBeNull();
});

test('however many answers are inflated, about one piece of them all is read in a turn', async () => {
  let readCount = 0;
  let mostInTurn = 0;
  const bytes = gzipSync(Buffer.alloc(200_000));
  const reader = {
    push() {
      readCount += 1;
    },
    finish: () => null,
  } as unknown as AnswerReader;
  const all = Array.from({ length: 50 }, () => InflatedReader.for(['gzip'], reader, newRoom()));
  let isOver = false;
  const look = () => {
    mostInTurn = Math.max(mostInTurn, readCount);
    readCount = 0;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  for (const inflated of all) inflated?.push(bytes);
  await Promise.all(all.map((inflated) => inflated?.finish()));
  isOver = true;
  expect(mostInTurn).toBeGreaterThan(0);
  expect(mostInTurn).toBeLessThan(5);
});
