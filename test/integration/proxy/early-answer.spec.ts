/**
 * An upstream that answers before it has read the request, as one does that finds it too large or its caller unknown: the
 * answer arrives whole, whatever becomes of the connection, and no later call has to use what is left of it. And one that reads
 * so slowly that its client leaves before it has the request.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';

/** Far more than sockets hold between two processes. */
const BODY_CHARS = 20_000_000;
const HEADERS_TIMEOUT_MS = 5_000;

const ANSWERS = {
  413: JSON.stringify({
    error: { message: 'Request too large', code: 'too_large', pad: 'x'.repeat(100_000) },
  }),
  200: JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
  }),
} as const;
type Status = keyof typeof ANSWERS;

let upstream: Server;
/** Takes connections and reads nothing. */
const slow = createServer({ pauseOnConnect: true });
const sockets = new Set<Socket>();
/** What becomes of a connection whose large request was answered, at once and when its client has the answer. */
let afterwards: (socket: Socket) => unknown;
let onceRead = () => {};
let gateway: RunningGateway;

/** Answers what has a large body at once, with the status that its path asks for, and reads no more of it; all else in order. */
function serve(socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => {});
  let seen = '';
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
    const end = seen.indexOf('\r\n\r\n');
    if (end < 0) return;
    const status = Number(/status=(\d+)/.exec(seen)?.[1] ?? 200) as Status;
    const bodyChars = Number(/content-length: (\d+)/i.exec(seen)?.[1] ?? 0);
    const isLarge = bodyChars > 1_000_000;
    if (!isLarge && seen.length < end + 4 + bodyChars) return;
    seen = '';
    const text = ANSWERS[status];
    socket.write(
      `HTTP/1.1 ${status} Answer\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    if (!isLarge) return;
    socket.pause();
    afterwards(socket);
  });
}

beforeAll(async () => {
  upstream = createServer(serve).listen(0, '127.0.0.1');
  slow.listen(0, '127.0.0.1');
  await Promise.all([once(upstream, 'listening'), once(slow, 'listening')]);
  gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_EARLY_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
      OBSERVATORY_UPSTREAM_EARLY_KEY: 'sk-scripted',
      OBSERVATORY_UPSTREAM_SLOW_URL: `http://127.0.0.1:${(slow.address() as AddressInfo).port}/v1`,
      OBSERVATORY_UPSTREAM_SLOW_KEY: 'sk-scripted',
      UPSTREAM_HEADERS_TIMEOUT_MS: String(HEADERS_TIMEOUT_MS),
    },
  });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  upstream.close();
  slow.close();
  expect(await gateway.stop()).toBe(0);
});
/** One for each test: equal questions of one agent are a loop. */
let agent: string;
let serial = 0;
beforeEach(() => {
  serial += 1;
  agent = `early-${serial}`;
  onceRead = () => {};
});

const ask = (
  status: Status,
  content: string,
  { to = 'early', signal = null }: { to?: string; signal?: AbortSignal | null } = {},
): Promise<Response> =>
  fetch(`${gateway.url}/agents/${agent}/proxy/${to}/v1/chat/completions?status=${status}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
    signal,
  });
const metrics = async (): Promise<string> => (await fetch(`${gateway.url}/metrics`)).text();

test.each<[string, (socket: Socket) => unknown]>([
  ['keeps the connection and reads no more', () => {}],
  [
    'resets the connection',
    (socket: Socket) => {
      onceRead = () => socket.resetAndDestroy();
    },
  ],
  ['ends the connection', (socket: Socket) => void socket.end()],
  [
    'reads on',
    (socket: Socket) => {
      onceRead = () => socket.removeAllListeners('data').resume();
    },
  ],
])('an upstream that answers early and then %s', async (_, then) => {
  afterwards = then;
  for (const status of [413, 200] as const) {
    const answer = await ask(status, 'x'.repeat(BODY_CHARS));
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe(ANSWERS[status]);
    onceRead();
    // Whoever comes next has a connection that works.
    const next = await ask(200, 'Are you there?');
    expect([next.status, await next.text()]).toEqual([200, ANSWERS[200]]);
  }
  await expect.poll(async () => (await gateway.operator('GET', '/v1/system')).status).toBe(200);
  expect(gateway.process.exitCode).toBeNull();
  expect(gateway.output()).not.toMatch(/unhandled|uncaught/i);
});

test('the bytes of such bodies and the places of such calls are given back', async () => {
  afterwards = () => {};
  for (let round = 0; round < 3; round += 1) {
    const answer = await ask(413, 'x'.repeat(BODY_CHARS));
    expect([answer.status, await answer.text()]).toEqual([413, ANSWERS[413]]);
  }
  await expect.poll(metrics).toMatch(/proxy_body_bytes 0$/m);
  // None of the connections that hold such a rest is kept.
  for (const socket of sockets) socket.removeAllListeners('data').resume();
  await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
});

test('a client that leaves while its body is on its way takes the connection with it, and leaves nothing behind', async () => {
  const leaving = new AbortController();
  const connected = once(slow, 'connection');
  const asked = ask(200, 'x'.repeat(BODY_CHARS), { to: 'slow', signal: leaving.signal }).catch(() => 'left');
  const [socket] = (await connected) as [Socket];
  await expect.poll(metrics).toMatch(/proxy_body_bytes 2\d{7}$/m);
  leaving.abort();
  expect(await asked).toBe('left');
  // Neither because somebody reads nor because the upstream took too long.
  await expect.poll(metrics, { timeout: HEADERS_TIMEOUT_MS / 2 }).toMatch(/proxy_body_bytes 0$/m);
  const view = async (path: string) => (await gateway.operator('GET', path)).body;
  await expect
    .poll(async () => (await view(`/v1/calls?agent_id=${agent}`)).items)
    .toMatchObject([{ decision: 'aborted', status: 499 }]);
  expect(await view(`/v1/agents/${agent}`)).toMatchObject({ running_call_count: 0 });
  let byteCount = 0;
  socket.on('error', () => {});
  socket.on('data', ({ length }) => {
    byteCount += length;
  });
  socket.resume();
  await expect.poll(() => socket.destroyed).toBe(true);
  expect(byteCount).toBeLessThan(BODY_CHARS);
});
