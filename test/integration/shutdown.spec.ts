/** SIGTERM and the end of a terminal: what is under way ends well, and what only waits keeps nobody waiting. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { Manager } from 'socket.io-client';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { respondEvents, ScriptedUpstream } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { endWithFile } from './end-with-file.js';
import { AGENT_KEY, makeDataDir, startGateway } from './start-gateway.js';
import { startOnOutput } from './start-on-output.js';

const connectTo = async (url: string): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

test('connections on which nothing came yet do not delay it', async () => {
  const gateway = await startGateway();
  // As browsers open them, ahead of what they may want.
  const ahead = await Promise.all([connectTo(gateway.url), connectTo(gateway.url)]);
  // One that was used, and is kept for the next request.
  await fetch(`${gateway.url}/healthz`);
  const closed = Promise.all(ahead.map((socket) => once(socket, 'close')));
  expect(await gateway.stop()).toBe(0);
  await closed;
  expect(gateway.output()).not.toContain('drain step did not finish');
});

test('a thousand connections with half a head each do not delay it', async () => {
  const gateway = await startGateway();
  const halves = await Promise.all(Array.from({ length: 1_000 }, () => connectTo(gateway.url)));
  for (const socket of halves) socket.write('POST /v1/decision-logs HTTP/1.1\r\nhost: loc');
  await fetch(`${gateway.url}/healthz`);
  const closed = Promise.all(halves.map((socket) => once(socket, 'close')));
  expect(await gateway.stop()).toBe(0);
  await closed;
  expect(gateway.output()).not.toContain('drain step did not finish');
});

test('a request under way is answered', async () => {
  const gateway = await startGateway();
  const socket = await connectTo(gateway.url);
  let answer = '';
  socket.on('data', (bytes) => (answer += bytes));
  const body = JSON.stringify({});
  const head = [
    'POST /v1/decision-logs HTTP/1.1',
    'host: localhost',
    `authorization: Bearer ${gateway.agentKey}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 1)}`);
  // Its head has been read once a request that came later was answered.
  await fetch(`${gateway.url}/healthz`);
  const stopped = gateway.stop();
  await expect.poll(() => gateway.output()).toContain('draining');
  const closed = once(socket, 'close');
  socket.write(body.slice(1));
  expect(await stopped).toBe(0);
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 422 /);
  expect(gateway.output()).not.toContain('drain step did not finish');
});

test('a socket is told why it is closed, also while something else is on its way to it', async () => {
  const gateway = await startGateway();
  const manager = new Manager(gateway.url, { transports: ['websocket'], reconnection: false });
  // Of two on one connection the second has to wait until the word to the first has left.
  const both = [
    manager.socket('/live', { auth: { token: gateway.operatorToken } }),
    manager.socket('/agents', { auth: { key: gateway.agentKey } }),
  ];
  await Promise.all(both.map((socket) => new Promise<void>((settle) => socket.once('connect', settle))));
  const reasons: string[] = [];
  for (const socket of both) socket.once('cut', ({ reason }) => reasons.push(reason));
  const closed = both.map((socket) => new Promise((settle) => socket.once('disconnect', settle)));
  expect(await gateway.stop()).toBe(0);
  await Promise.all(closed);
  expect(reasons).toEqual(['draining', 'draining']);
  expect(gateway.output()).not.toContain('drain step did not finish');
});

test.each([
  ['of an operator', true],
  ['that never said whose it is', false],
])('a socket %s whose other end answers no goodbye does not delay it', async (_, isKnown) => {
  const gateway = await startGateway();
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
  await once(socket, 'message');
  const login = JSON.stringify({ token: gateway.operatorToken });
  if (isKnown) {
    socket.send(`40/live,${login}`);
    await once(socket, 'message');
  }
  socket.pause();
  expect(await gateway.stop()).toBe(0);
  expect(gateway.output()).not.toContain('drain step did not finish');
  socket.terminate();
});

test('a terminal that is closed ends it as SIGTERM does', async () => {
  const gateway = await startGateway();
  const ended = once(gateway.process, 'exit');
  gateway.process.kill('SIGHUP');
  expect(await ended).toEqual([0, null]);
  expect(gateway.output()).toContain('"draining","signal":"SIGHUP"');
});

test('a start is ended by it, too: of the first process of a container only what it asks for ends it', async () => {
  const main = resolve(import.meta.dirname, '../../dist/apps/gateway/src/main.js');
  // A Redis that takes the connection and says nothing.
  const redis = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  endWithFile(() => void redis.close());
  await once(redis, 'listening');
  const asked = once(redis, 'connection');
  const { process: gateway, ended } = startOnOutput(main, 'pipe', {
    PORT: '0',
    OBSERVATORY_DATA_DIR: makeDataDir(),
    REDIS_URL: `redis://127.0.0.1:${(redis.address() as AddressInfo).port}`,
  });
  await asked;
  gateway.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('the signal by which Node opens its debugger, to whoever is on this machine, opens none', async () => {
  const gateway = await startGateway({ env: { LOOP_DETECTION_ENABLED: '1' } });
  await expect.poll(() => gateway.output(), { timeout: 20_000 }).toContain('embedding sidecar ready');
  const pid = gateway.process.pid as number;
  const [sidecarPid] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  for (const one of [pid, Number(sidecarPid)]) process.kill(one, 'SIGUSR1');
  // Each of the two says so in place of "Debugger listening".
  await expect.poll(() => gateway.output().split('"signal":"SIGUSR1"').length).toBe(3);
  expect(gateway.output()).not.toContain('Debugger');
  expect(await gateway.stop()).toBe(0);
});

test.each([
  ['', 10_000],
  [', also where all has to end sooner than a call may otherwise take', 4_000],
])(
  'a stream that goes on past the deadline is broken off, recorded and charged with what went by%s',
  {
    timeout: 60_000,
  },
  async (_, drainTimeoutMs) => {
    const upstream = await new ScriptedUpstream().listen();
    const dataDir = temporaryFolder();
    const env = {
      DRAIN_TIMEOUT_MS: String(drainTimeoutMs),
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-scripted',
    };
    const chunk = { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'word ' } }] };
    const words = Array.from({ length: 1_000 }, () => `data: ${JSON.stringify(chunk)}\n\n`);
    upstream.script((_call, response) => respondEvents(response, words, { pauseMs: 100 }));
    const gateway = await startGateway({ dataDir, env });
    await gateway.operator('PATCH', '/v1/agents/writer/policy', { budget_day_usd: 5 });
    const response = await fetch(`${gateway.url}/agents/writer/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o',
        stream: true,
        max_tokens: 16_000,
        messages: [{ role: 'user', content: 'Write' }],
      }),
    });
    expect(response.status).toBe(200);
    let seen = '';
    const read = (async () => {
      for await (const bytes of response.body as ReadableStream<Uint8Array>)
        seen += Buffer.from(bytes).toString();
    })();
    read.catch(() => {});
    expect(await gateway.stop()).toBe(0);
    await expect(read).rejects.toThrow();
    await upstream.calls[0]?.aborted;
    expect(gateway.output()).not.toContain('drain step did not finish');
    const later = await startGateway({ dataDir, env });
    const { items } = (await later.operator('GET', '/v1/calls?agent_id=writer')).body;
    expect(items).toMatchObject([
      { decision: 'aborted', detail: 'The gateway shut down before the answer was complete.' },
    ]);
    // The agent has no part in it: what it might have used up to its `max_tokens` would be 0.16.
    const wordCount = seen.split('word').length - 1;
    const { output_usd } = (await later.operator('GET', '/v1/prices')).body.models.find(
      ({ model }: { model: string }) => model === 'gpt-4o',
    );
    const outputUsd = ((wordCount * 'word '.length) / 4) * (output_usd / 1e6);
    expect(items[0].cost_usd).toBeGreaterThan(outputUsd * 0.9);
    expect(items[0].cost_usd).toBeLessThan(outputUsd + 0.001);
    const { spend } = (await later.operator('GET', '/v1/agents/writer')).body;
    expect(spend.day.spent_usd).toBeCloseTo(items[0].cost_usd, 6);
    await later.stop();
    await upstream.close();
  },
);
