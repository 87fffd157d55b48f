/** What the lane takes for plain, Node's own parser must read alike: two readings of one request are how others are smuggled in. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PlainHead, PlainHeads } from './plain-head.js';

/** Node's reading of a request and its body, or null where Node refuses. No network: the connection is a stream. */
async function readByNode(
  bytes: Buffer,
): Promise<{ request: IncomingMessage; body: string; count: number } | null> {
  let count = 0;
  const server = createServer();
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const read = new Promise<{ request: IncomingMessage; body: string } | null>((resolve) => {
    server.on('request', (request) => {
      count += 1;
      let body = '';
      request.setEncoding('latin1').on('data', (text) => (body += text));
      request.on('end', () => resolve({ request, body }));
    });
    server.on('clientError', () => resolve(null));
    server.on('checkContinue', () => resolve(null));
    server.on('upgrade', () => resolve(null));
  });
  server.emit('connection', connection);
  connection.push(bytes);
  const outcome = await read;
  const closed = once(connection, 'close');
  connection.destroy();
  await closed;
  return outcome && { ...outcome, count };
}

const name = fc.constantFrom(
  'host',
  'Host',
  'content-length',
  'Content-Length',
  'authorization',
  'Authorization',
  'x-observatory-key',
  'content-type',
  'Connection',
  'transfer-encoding',
  'Expect',
  'accept',
  'x-a',
  'x_b!',
  'content-length ',
  ' host',
);
const value = fc.oneof(
  fc.constantFrom(
    '5',
    '05',
    '5, 5',
    '',
    'localhost',
    'chunked',
    'keep-alive',
    'close',
    'Bearer oak_1',
    'a\tb',
    'ÿ',
  ),
  fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 6,
  }),
);
const space = fc.constantFrom('', ' ', '  ', '\t', ' \t ');
const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n ');
const line = fc
  .tuple(name, space, value, space, lineEnd)
  .map(([field, before, said, after, end]) => `${field}:${before}${said}${after}${end}`);
/** By itself, so that it is the only one now and then. */
const lengthLine = fc
  .tuple(space, fc.constantFrom('5', '05', '+5', ''), space)
  .map(([before, said, after]) => `Content-Length:${before}${said}${after}\r\n`);
/** Two thirds of them plain to begin with, so that there is something to compare. */
const beginning = fc.oneof(
  fc.constant('Host: a\r\nContent-Length: 5\r\n'),
  lengthLine.map((length) => `Host: a\r\n${length}`),
  fc.constant(''),
);
const head = fc
  .tuple(beginning, fc.array(line, { maxLength: 6, size: 'max' }))
  .map(([begins, lines]) => `POST /v1/decision-logs HTTP/1.1\r\n${begins}${lines.join('')}\r\n`);

const saidOf = ({ headers }: IncomingMessage): Omit<PlainHead, 'path'> => ({
  authorization: headers.authorization,
  observatoryKey: headers['x-observatory-key'] as string | undefined,
  contentType: headers['content-type'],
});

test('a head that is plain is read by Node to the same end, whatever stands in it', async () => {
  let plainCount = 0;
  // One for all: what it remembers of a head must make no other one plain.
  const heads = new PlainHeads();
  await fc.assert(
    fc.asyncProperty(head, async (text) => {
      const plain = heads.read(Buffer.from(text, 'latin1'));
      if (plain === null) return;
      plainCount += 1;
      const body = 'b'.repeat(plain.byteCount);
      const node = await readByNode(Buffer.from(text.slice(0, plain.bodyAt) + body, 'latin1'));
      const { path, ...said } = plain.head;
      expect(node).not.toBeNull();
      expect(node?.request).toMatchObject({ method: 'POST', url: path, httpVersion: '1.1', complete: true });
      expect(node?.body).toBe(body);
      expect(saidOf(node?.request as IncomingMessage)).toEqual(said);
      expect(node?.count).toBe(1);
    }),
    { numRuns: 1_000 },
  );
  expect(plainCount).toBeGreaterThan(50);
});

/** A head that is plain, with a length of its own. */
const plainHead = fc
  .tuple(fc.constantFrom('5', '12', '940'), fc.constantFrom('', 'Accept: */*\r\n', 'X-A: 5\r\nX-B: 12\r\n'))
  .map(
    ([length, more]) =>
      `POST /v1/decision-logs HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n${more}\r\n`,
  );
/** Some stretch of it, and what stands there instead. */
const change = fc.record({
  at: fc.nat(120),
  length: fc.nat(4),
  instead: fc.constantFrom('', '0', '5', '12', ' ', '\t', '\r\n', '\r\n\r\n', 'a', '+', ':', 'ÿ', 'x: y\r\n'),
});

test('what was read of an earlier head changes nothing about the next', () => {
  let plainCount = 0;
  fc.assert(
    fc.property(plainHead, change, (first, { at, length, instead }) => {
      const heads = new PlainHeads();
      const known = heads.read(Buffer.from(first, 'latin1'));
      expect(known).not.toBeNull();
      const next = Buffer.from(first.slice(0, at) + instead + first.slice(at + length), 'latin1');
      const anew = new PlainHeads().read(next);
      expect(heads.read(next)).toEqual(anew);
      if (anew !== null) plainCount += 1;
    }),
    { numRuns: 5_000 },
  );
  expect(plainCount).toBeGreaterThan(500);
});
