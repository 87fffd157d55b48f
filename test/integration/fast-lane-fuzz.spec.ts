/**
 * Bytes that nobody plain sends, by both ways into the gateway: as the first of a connection, which the fast lane looks at, and as the
 * second, when Node has the connection already. What the one takes the other takes; all else is a request that somebody could smuggle.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway();

const WAYS = ['lane', 'node'] as const;
type Way = (typeof WAYS)[number];
/** As long as the names of the ways, which come in its place. */
const PLACE = 'WAY?';

const oddLine = fc.constantFrom(
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length: -1',
  'Content-Length: 5, 5',
  'Content-Length: 18446744073709551617',
  'Content-Length : 5',
  'Content-Length:\t5',
  'content-length: 05',
  'Content_Length: 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding:',
  'TE: trailers',
  'Trailer: X-A',
  'Expect: 100-continue',
  'Expect: nothing',
  'Upgrade: h2c',
  'Connection: Upgrade',
  'Connection: close',
  'Connection: Keep-Alive',
  'Connection: keep-alive, close',
  'Connection: content-length',
  'Keep-Alive: timeout=1',
  'Host: elsewhere',
  'Host:',
  'Authorization: Bearer nobody',
  'Authorization:',
  'X-Observatory-Key: nobody',
  'X-Observatory-Key:',
  'Content-Type: text/plain',
  'Content-Type:',
  'Content-Encoding: gzip',
  'Content-Encoding:',
  '__proto__: x',
  'X-A: a\r\n b',
  'X-A: \0',
  'X-A: \x7f',
  'X-A: ÿ',
  'X A: b',
  ' X-A: b',
  'X-A',
  ': b',
  `X-A: ${'a'.repeat(5_000)}`,
  `X-A: ${'a'.repeat(20_000)}`,
);
const firstLine = fc.oneof(
  { weight: 6, arbitrary: fc.constant('POST /v1/decision-logs HTTP/1.1') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'POST /v1/decision-logs HTTP/1.0',
      'POST /v1/decision-logs HTTP/1.12',
      'POST /v1/decision-logs',
      'POST  /v1/decision-logs HTTP/1.1',
      'POST /v1/decision-logs?a=b HTTP/1.1',
      'POST /v1/decision-logs/ HTTP/1.1',
      'POST /v1/decision%2dlogs HTTP/1.1',
      'POST http://localhost/v1/decision-logs HTTP/1.1',
      'post /v1/decision-logs HTTP/1.1',
      'GET /v1/decision-logs HTTP/1.1',
      '\r\nPOST /v1/decision-logs HTTP/1.1',
    ),
  },
);
const lineEnd = fc.oneof(
  { weight: 60, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n', '\r\n\r\n') },
);
/** Of a head: one byte more, less, or another. */
const bend = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: fc.record({
      at: fc.nat(250),
      cut: fc.boolean(),
      byte: fc.string({
        maxLength: 1,
        unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      }),
    }),
  },
);
const request = fc.record({
  firstLine,
  odd: fc.array(fc.tuple(oddLine, fc.nat(4)), { maxLength: 2 }),
  ends: fc.array(lineEnd, { minLength: 8, maxLength: 8 }),
  bend,
});
type DrawnRequest = typeof request extends fc.Arbitrary<infer Drawn> ? Drawn : never;
const sequence = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(request) },
  { weight: 1, arbitrary: fc.array(request, { minLength: 2, maxLength: 3 }) },
);

let serial = 0;

function bytesOf(drawn: DrawnRequest): string {
  serial += 1;
  const body = JSON.stringify(
    buildDecisionLog({ meta: { trace_id: `${PLACE}-${serial}`, session_id: PLACE } }),
  );
  const lines = [
    'Host: localhost',
    `Authorization: Bearer ${gateway.agentKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  for (const [line, at] of drawn.odd) lines.splice(at, 0, line);
  let head = [drawn.firstLine, ...lines, ''].map((line, at) => line + drawn.ends[at]).join('');
  if (drawn.bend !== null) {
    const at = drawn.bend.at % head.length;
    head = head.slice(0, at) + drawn.bend.byte + head.slice(drawn.bend.cut ? at + 1 : at);
  }
  return head + body;
}

/** In one piece, on a connection of its own, whose end is waited for. */
async function send(way: Way, bytes: string): Promise<void> {
  const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1' });
  const closed = once(socket, 'close');
  // Whoever is refused in the middle is cut off.
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (way === 'node') {
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
  }
  socket.resume().end(Buffer.from(bytes.replaceAll(PLACE, way), 'latin1'));
  await closed;
}

/** Numbers of the steps that were taken. */
async function taken(way: Way): Promise<Set<number>> {
  const numbers = new Set<number>();
  let cursor = '';
  do {
    const { body } = await gateway.operator('GET', `/v1/sessions/${way}/decision-logs?limit=500${cursor}`);
    for (const { meta } of body.items) numbers.add(Number(meta.trace_id.slice(way.length + 1)));
    cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`;
  } while (cursor !== '');
  return numbers;
}

test('what the lane takes, and what it leaves, Node takes and leaves alike', {
  timeout: 60_000,
}, async () => {
  let takenCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(sequence, { minLength: 100, maxLength: 100 }), async (sequences) => {
      const cases = sequences.map((requests) => requests.map(bytesOf).join(''));
      for (const way of WAYS) await Promise.all(cases.map((bytes) => send(way, bytes)));
      // What came before it is in the store when it is.
      expect((await gateway.ingest(buildDecisionLog({ meta: { trace_id: `last-${serial}` } }))).status).toBe(
        202,
      );
      const [byLane, byNode] = [await taken('lane'), await taken('node')];
      const isDisputed = (bytes: string): boolean =>
        [...bytes.matchAll(/WAY\?-(\d+)/g)].some(
          ([, number]) => byLane.has(Number(number)) !== byNode.has(Number(number)),
        );
      expect(cases.filter(isDisputed)).toEqual([]);
      takenCount = byLane.size;
    }),
    { numRuns: 4, endOnFailure: true },
  );
  // Some of each kind.
  expect(takenCount).toBeGreaterThan(50);
  expect(takenCount).toBeLessThan(serial - 50);
});
