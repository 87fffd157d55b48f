/** The bounds on memory hold where it matters: a gateway with a small heap, and more in its windows, or in one body, than would fit. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';

import { AGENT_KEY, type RunningGateway, startGateway } from './start-gateway.js';
import { upstreamsAt } from './start-one-gateway.js';

const HEAP_MB = 256;
const STEPS_PER_SESSION = 5;
const SESSIONS_PER_BATCH = 20;
/** 1.25 times the heap, in the windows' texts alone: intent and tool of each step, as long as they may be. */
const BATCHES = Math.ceil(
  (1.25 * HEAP_MB * 1024 * 1024) / (2 * LIMITS.lineCharsMax * STEPS_PER_SESSION * SESSIONS_PER_BATCH),
);

const longText = (session: string, index: number) => `${session} ${index} `.padEnd(LIMITS.lineCharsMax, 'x');

test('[FR-9.1] long intents in ever new sessions do not outgrow a small heap, and each is scored', async () => {
  const gateway = await startGateway({
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  });
  const scores = new Set<number>();
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const logs = Array.from({ length: SESSIONS_PER_BATCH * STEPS_PER_SESSION }, (_, index) => {
      const session_id = `long-${batch}-${index % SESSIONS_PER_BATCH}`;
      return buildDecisionLog({
        meta: { trace_id: `${batch}-${index}`, session_id },
        cognition: { intent: longText(session_id, index) },
        action: { tool_call: longText(session_id, index) },
      });
    });
    const response = await gateway.ingest(logs);
    expect(response.status).toBe(202);
    for (const { entropy } of (await response.json()).results) scores.add(entropy.score);
  }
  expect([...scores]).toEqual([1]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(
    Number(/^observatory_entropy_windows_evicted_total\{[^}]*\} (\d+)/m.exec(metrics)?.[1]),
  ).toBeGreaterThan(0);
  expect(await gateway.stop()).toBe(0);
}, 120_000);

test('says at its start that the heap may outgrow the container', async () => {
  const limit = (mebibytes: number) =>
    `--import=data:text/javascript,process.constrainedMemory=()=>${mebibytes * 1024 ** 2}`;
  const heap = `--max-old-space-size=${HEAP_MB}`;
  const tight = await startGateway({ env: { NODE_OPTIONS: `${heap} ${limit(HEAP_MB)}` } });
  expect(tight.output()).toContain('"event":"memory_tight"');
  const wide = await startGateway({ env: { NODE_OPTIONS: `${heap} ${limit(4 * HEAP_MB)}` } });
  expect(wide.output()).not.toContain('memory_tight');
  expect([await tight.stop(), await wide.stop()]).toEqual([0, 0]);
}, 120_000);

/** Each of them a buffer of its own to Node: hundreds of bytes of memory for one. */
const BYTES_ONE_BY_ONE = 2_000_000;
const BYTES_AT_ONCE = 50_000;

test.each(['/v1/decision-logs', '/agents/slicer/proxy/openai/v1/chat/completions'])(
  'a body that comes a byte at a time takes no more than its bytes: %s',
  async (path) => {
    const gateway = await startGateway({
      env: {
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
        // It is about memory: on a busy machine two million buffers take longer than a body may.
        BODY_TIMEOUT_MS: '60000',
        OBSERVATORY_UPSTREAM_OPENAI_URL: 'http://127.0.0.1:9/v1',
        OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-test',
      },
    });
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const answered = once(socket.setEncoding('latin1'), 'data');
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\n` +
        'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    const some = Buffer.from('1\r\nx\r\n'.repeat(BYTES_AT_ONCE));
    for (let sent = 0; sent < BYTES_ONE_BY_ONE; sent += BYTES_AT_ONCE)
      if (!socket.write(some)) await once(socket, 'drain');
    socket.write('0\r\n\r\n');
    expect((await answered)[0]).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
    expect(await gateway.stop()).toBe(0);
  },
  60_000,
);

/** Half of what the bodies have, on half their heap: each of them goes on to a client, too. */
const BLANKS = BYTES_ONE_BY_ONE / 2;

/** An answer with blanks in it that come one by one. */
interface SlicedAnswer {
  kind: string;
  /** Behind the upstream's origin. */
  path: string;
  /** Null: a GET. */
  request: object | null;
  type?: string;
  before: string;
  after: string;
  inputTokens: number | undefined;
}

const CHAT_PATH = '/proxy/openai/v1/chat/completions';
const CHAT_USAGE = '"usage":{"prompt_tokens":7,"completion_tokens":2}}';
const SLICED_ANSWERS: SlicedAnswer[] = [
  { kind: 'whole', path: CHAT_PATH, request: {}, before: '{', after: CHAT_USAGE, inputTokens: 7 },
  {
    kind: 'an event',
    path: CHAT_PATH,
    request: { stream: true },
    type: 'text/event-stream',
    before: 'data: {',
    after: `${CHAT_USAGE}\n\ndata: [DONE]\n\n`,
    inputTokens: 7,
  },
  {
    kind: 'an element of an array',
    path: '/proxy/gemini/v1beta/models/m:streamGenerateContent',
    request: {},
    before: '[{',
    after: '"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2}}]',
    inputTokens: 7,
  },
  {
    kind: 'a list of batches',
    path: '/proxy/anthropic/v1/messages/batches',
    request: null,
    before: '{',
    after: '"data":[]}',
    inputTokens: undefined,
  },
];

test.each(SLICED_ANSWERS)(
  'an answer that comes a byte at a time takes no more than its bytes: $kind',
  async ({ path, request, type = 'application/json', before, after, inputTokens }) => {
    const pieces = { before: chunk(before), piece: chunk(' '), count: BLANKS, after: chunk(after) };
    const { gateway, upstream } = await startBefore(type, pieces);
    const headers = { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' };
    const answer = await fetch(gateway.url + path, {
      ...(request !== null && { method: 'POST', body: JSON.stringify({ model: 'm', ...request }) }),
      headers,
    });
    expect(await answer.text()).toHaveLength(before.length + BLANKS + after.length);
    expect((await onlyCall(gateway)).usage?.input_tokens).toBe(inputTokens);
    expect(await gateway.stop()).toBe(0);
    upstream.close();
  },
  120_000,
);

/** On a text that grows by them, each would take 32 bytes of memory: all together the whole heap. */
const TEXT_PIECES = 4_000_000;
const delta = (content: object) => `data:{"choices":[{"delta":${JSON.stringify(content)}}]}\n\n`;
const END = `data:{"choices":[],${CHAT_USAGE}\n\ndata:[DONE]\n\n`;

test.each([
  { kind: 'of a text', before: '', piece: delta({ content: 'x' }), after: END },
  {
    kind: "of a tool call's arguments",
    before: delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] }),
    piece: delta({ tool_calls: [{ index: 0, function: { arguments: ' ' } }] }),
    after: END,
  },
  { kind: 'of an event, by empty lines', before: '', piece: 'data:\n', after: `\n${END}` },
])(
  'a stream takes no more than its text, in however many pieces: $kind',
  async ({ before, piece, after }) => {
    const many = 1_000;
    const { gateway, upstream } = await startBefore('text/event-stream', {
      before: chunk(before),
      piece: chunk(piece.repeat(many)),
      count: TEXT_PIECES / many,
      after: chunk(after),
    });
    const answer = await fetch(gateway.url + CHAT_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream: true }),
    });
    let byteCount = 0;
    for await (const bytes of answer.body ?? []) byteCount += bytes.length;
    expect(byteCount).toBe(before.length + piece.length * TEXT_PIECES + after.length);
    expect((await onlyCall(gateway)).usage?.input_tokens).toBe(7);
    expect(await gateway.stop()).toBe(0);
    upstream.close();
  },
  120_000,
);

/** As it goes over the wire; nothing for nothing, which would be the end. */
const chunk = (text: string) => (text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`);

/** Chunks of an answer. */
interface Pieces {
  before: string;
  piece: string;
  count: number;
  after: string;
}

/** An upstream that answers so, and a gateway with half a heap in front of it. */
async function startBefore(type: string, { before, piece, count, after }: Pieces) {
  const upstream = createServer(async (socket) => {
    await once(socket, 'data');
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`);
    socket.write(before);
    const together = Math.min(count, Math.ceil(300_000 / piece.length));
    const some = Buffer.from(piece.repeat(together));
    for (let left = count; left > 0; left -= together)
      if (!socket.write(some.subarray(0, left * piece.length))) await once(socket, 'drain');
    socket.write(`${after}0\r\n\r\n`);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const gateway = await startGateway({
    env: {
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB / 2}`,
      ...upstreamsAt(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, 'sk-test'),
    },
  });
  return { gateway, upstream };
}

/** As it was recorded. */
async function onlyCall(gateway: RunningGateway) {
  const calls = async () => (await gateway.operator('GET', '/v1/calls')).body.items;
  await expect.poll(async () => (await calls()).length).toBe(1);
  return (await calls())[0];
}
