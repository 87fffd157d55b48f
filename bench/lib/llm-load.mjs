/**
 * Load of the proxy bench: chat completions of a given size, every question different, one request in flight on each
 * connection. Sessions are many and their questions unlike each other, as an agent's are that makes progress.
 */
import { LatencyHistogram } from '../../scripts/lib/latency-histogram.mjs';
import { serve } from './helper.mjs';
import { RawConnection } from './raw-connection.mjs';

const sessionCount = 1_000;
/** So many that two questions hardly share one, and no more than a fleet has. */
const wordCount = 2_000;
const syllables =
  'ba be bo da de do fa fe fo ga ge go ka ke ko la le lo ma me mo na ne no pa pe po ra re ro sa se so ta te to va ve vo za'.split(
    ' ',
  );

const words = Array.from({ length: wordCount }, (_, at) =>
  [at, at >>> 3, at >>> 6].map((index) => syllables[index % syllables.length]).join(''),
);

/** @typedef {{ name: string, port: number, path: string, headers: Record<string, string>, connections: number, bodyBytes: number, stream: boolean, distinct?: number }} LlmTarget
 *   `distinct`: so many different questions, asked in turn; absent: every question is new */

/** @param {number} seed deterministic, spread over all 32 bits */
const scramble = (seed) => Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) >>> 0;

/** @param {number} serial @param {number} length in words */
function question(serial, length) {
  let state = scramble(serial + 1);
  let text = '';
  for (let at = 0; at < length; at += 1) {
    state = scramble(state + at + 0x9e3779b9);
    text += `${words[(state >>> 8) % words.length]}${state % 13 === 0 ? '.' : ''} `;
  }
  return text;
}

let serial = 0;

/** @param {LlmTarget} target @returns {Buffer} a whole request */
function request({ port, path, headers, bodyBytes, stream, distinct }) {
  serial += 1;
  const asked = question(distinct === undefined ? serial : serial % distinct, 48);
  const head = `{"model":"gpt-4o-mini",${stream ? '"stream":true,' : ''}"max_tokens":200,"messages":[{"role":"system","content":"`;
  const middle = `"},{"role":"user","content":${JSON.stringify(asked)}}]}`;
  const filler = 'You answer briefly and truthfully. '
    .repeat(Math.ceil(bodyBytes / 35))
    .slice(0, Math.max(1, bodyBytes - head.length - middle.length));
  const body = `${head}${filler}${middle}`;
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-observatory-session': `bench-${serial % sessionCount}`,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** @type {Map<string, { target: LlmTarget, connections: RawConnection[] }>} */
const targets = new Map();

serve({
  /** @param {LlmTarget} target */
  open(target) {
    const connections = Array.from({ length: target.connections }, () => new RawConnection(target.port));
    targets.set(target.name, { target, connections });
  },

  /** @param {string} name */
  close(name) {
    for (const connection of targets.get(name)?.connections ?? []) connection.close();
    targets.delete(name);
  },

  /** @param {{ name: string, seconds: number }} window latencies in ms; `firstByte` to the first byte of the body */
  async run({ name, seconds }) {
    const found = targets.get(name);
    if (!found) throw new Error(`no target ${name}`);
    const latency = new LatencyHistogram();
    const firstByte = new LatencyHistogram();
    /** @type {Record<string, number>} */
    const statuses = {};
    let firstBad = '';
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1000;
    await Promise.all(
      found.connections.map(async (connection) => {
        while (performance.now() < endsAt) {
          const bytes = request(found.target);
          const sentAt = performance.now();
          const status = await connection.exchange(bytes);
          latency.record(performance.now() - sentAt);
          firstByte.record(connection.firstByteAt - sentAt);
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status !== 200 && !firstBad) firstBad = connection.answerStart;
        }
      }),
    );
    const tookSeconds = (performance.now() - startedAt) / 1000;
    return {
      requests: latency.count,
      perSecond: latency.count / tookSeconds,
      statuses,
      firstBad,
      p50: latency.percentileMs(50) ?? Number.NaN,
      p99: latency.percentileMs(99) ?? Number.NaN,
      firstByteP50: firstByte.percentileMs(50) ?? Number.NaN,
    };
  },
});
