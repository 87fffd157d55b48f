/** Requests that offer another protocol, as Java's HTTP client and `curl --http2` do: the offer is ignored, the request is not. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { buildDecisionLog, respondJson } from '#testing';
import { AGENT_KEY } from './start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from './start-one-gateway.js';

startOneGateway((origin) => ({ ...upstreamsAt(origin), OBSERVATORY_UPSTREAM_OWN_URL: `${origin}/v1` }));

const OFFER = [
  'Connection: Upgrade, HTTP2-Settings',
  'Upgrade: h2c',
  'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
];
const post = (path: string, body: string, offer: readonly string[] = OFFER): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    ...offer,
    `Authorization: Bearer ${AGENT_KEY}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
const log = () => JSON.stringify(buildDecisionLog());
const chat = (content: string) =>
  JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] });

/** One connection that sends each request when the one before it is answered, in pieces of 64 KiB. */
async function sendAll(requests: readonly string[]): Promise<string[]> {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const statuses: string[] = [];
  for (const request of requests) {
    const answered = new Promise<string>((resolve, reject) => {
      socket.once('data', (bytes) => resolve(bytes.toString('latin1').split('\r\n', 1)[0] as string));
      socket.once('close', () => reject(new Error('closed without an answer')));
    });
    for (let at = 0; at < request.length; at += 65_536) {
      socket.write(request.slice(at, at + 65_536));
      await new Promise(setImmediate);
    }
    statuses.push(await answered);
  }
  socket.destroy();
  return statuses;
}

test('a request that offers HTTP/2 is answered as if it did not, however often a connection offers it', async () => {
  upstream.script((_call, response) => respondJson(response, 200, { choices: [] }));
  const long = 'x'.repeat(300_000);
  const requests = ['short', long, 'short', 'short', 'short', 'short'].flatMap((text) => [
    post('/v1/decision-logs', log()),
    post('/proxy/openai/v1/chat/completions', chat(text)),
  ]);
  expect(await sendAll(requests)).toEqual(
    requests.map((_request, at) => (at % 2 === 0 ? 'HTTP/1.1 202 Accepted' : 'HTTP/1.1 200 OK')),
  );
  expect(upstream.calls[1]?.body.toString()).toBe(chat(long));
  expect(upstream.calls[0]?.headers).not.toHaveProperty('http2-settings');
  expect(gateway.output()).not.toContain('MaxListenersExceededWarning');
});

test('an answer that takes longer than a second comes all the same', async () => {
  upstream.script(async (_call, response) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    respondJson(response, 200, { choices: [] });
  });
  expect(await sendAll([post('/proxy/openai/v1/chat/completions', chat('slowly'))])).toEqual([
    'HTTP/1.1 200 OK',
  ]);
});

test.each([
  ['all', [500, 0]],
  ['all', [0, 500]],
  ['all', [300, 100, 0]],
  ['the last', [300, 100, 0]],
  ['the last', [300, 500, 0]],
] as const)(
  'of requests sent ahead %s offer it: they are answered in their order, whichever is ready first (%j ms)',
  async (which, delays) => {
    upstream.script(async ({ json }, response) => {
      const content = (json as any).messages[0].content as string;
      await new Promise((resolve) => setTimeout(resolve, delays[Number(content)]));
      respondJson(response, 200, { choices: [], said: `answer-${content}` });
    });
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    let seen = '';
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1');
    });
    const offerOf = (at: number) => (which === 'all' || at === delays.length - 1 ? OFFER : []);
    const ahead = delays.map((_, at) =>
      post('/proxy/openai/v1/chat/completions', chat(String(at)), offerOf(at)),
    );
    socket.write(ahead.join(''));
    const said = () => [...seen.matchAll(/answer-\d/g)].map(([text]) => text);
    await expect.poll(said, { timeout: 5_000 }).toEqual(delays.map((_, at) => `answer-${at}`));
    expect(seen.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(delays.length);
    socket.destroy();
  },
);

test.each([
  ['with it', 0],
  ['while its client reads nothing of it', 1],
])('a long answer arrives whole, and what was sent ahead %s is answered behind it', async (_, isLater) => {
  const padding = 'x'.repeat(16 * 1024 * 1024);
  upstream.script(({ json }, response) => {
    const { content } = (json as any).messages[0];
    respondJson(response, 200, {
      choices: [],
      padding: content === '0' ? padding : '',
      said: `answer-${content}`,
    });
  });
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const seen: Buffer[] = [];
  const [first, ...ahead] = [[], [], OFFER].map((offer, at) =>
    post('/proxy/openai/v1/chat/completions', chat(String(at)), offer),
  ) as [string, string, string];
  socket.write(first);
  if (isLater) {
    await once(socket, 'readable');
    // Whoever has an answer to a later request has seen what came before it.
    await sendAll([post('/v1/decision-logs', log())]);
  }
  socket.write(ahead.join(''));
  await sendAll([post('/v1/decision-logs', log())]);
  socket.on('data', (bytes) => seen.push(bytes)).resume();
  const said = () =>
    [
      ...Buffer.concat(seen)
        .toString('latin1')
        .matchAll(/answer-\d/g),
    ].map(([text]) => text);
  await expect.poll(said, { timeout: 5_000 }).toEqual(['answer-0', 'answer-1', 'answer-2']);
  socket.destroy();
});

test.each(['resets', 'closes'])(
  'a client that %s its connection while an offer waits takes its call with it, and nothing else',
  async (how) => {
    upstream.script(() => {});
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.write(post('/proxy/openai/v1/chat/completions', chat('first')));
    await expect.poll(() => upstream.calls.length).toBe(1);
    socket.write(post('/proxy/openai/v1/chat/completions', chat('second')));
    // Whoever has an answer to a later request has seen what came before it.
    expect(await sendAll([post('/v1/decision-logs', log())])).toEqual(['HTTP/1.1 202 Accepted']);
    if (how === 'resets') socket.resetAndDestroy();
    else socket.end();
    await upstream.calls[0]?.aborted;
    expect(await sendAll([post('/v1/decision-logs', log())])).toEqual(['HTTP/1.1 202 Accepted']);
    expect(upstream.calls).toHaveLength(1);
  },
);

test.each([
  '/proxy/openai/v1/responses',
  '/proxy/own/v1/realtime',
  '/agents/speaker/proxy/own/v1/realtime?model=m',
])('a WebSocket through the proxy, which no guard could read, is refused in words: %s', async (path) => {
  upstream.script((_call, response) => respondJson(response, 200, {}));
  const handshake = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    authorization: `Bearer ${AGENT_KEY}`,
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(gateway.url + path, { headers: handshake });
    request.on('response', (response) => resolve(response.resume())).on('error', reject);
  });
  // At any other status Codex ends, or knocks six times more before it takes HTTP.
  expect(answer).toMatchObject({ statusCode: 426, headers: { upgrade: 'HTTP/1.1' } });
  expect(upstream.calls).toHaveLength(0);
});
