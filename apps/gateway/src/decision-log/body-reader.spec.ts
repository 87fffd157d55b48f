import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readBody } from './body-reader.js';

const LIMITS = { bodyBytesMax: 2_000, inflatedBytesMax: 3_000, bodyTimeoutMs: 10_000 };

const read = async (bytes: Buffer, headers: Record<string, string> = {}) =>
  readBody(
    Object.assign(Readable.from([bytes]), { headers }) as unknown as IncomingMessage,
    LIMITS,
    () => true,
  );

describe('a body that is too large', () => {
  it.each([
    ['as it says of itself', Buffer.alloc(0), { 'content-length': '2001' }],
    ['as it comes', Buffer.alloc(2_001, ' '), {}],
  ])('is refused %s, with the bound in bytes and its setting', async (_, bytes, headers) => {
    await expect(read(bytes, headers)).rejects.toThrow(
      'The body is larger than 2000 bytes (BODY_BYTES_MAX); send smaller batches.',
    );
  });

  it('only after decompression is refused for that', async () => {
    await expect(read(gzipSync(Buffer.alloc(3_001, ' ')), { 'content-encoding': 'gzip' })).rejects.toThrow(
      'The inflated body is larger than 3000 bytes (INFLATED_BYTES_MAX); send smaller batches.',
    );
  });

  it('begins one byte above its bound', async () => {
    expect((await read(Buffer.alloc(2_000, ' '))).length).toBe(2_000);
  });
});
