/** Behind a reverse proxy that is trusted: what it says itself is believed, and nothing that a caller wrote ahead of it. */
import { io } from 'socket.io-client';
import { expect, it } from 'vitest';
import { OPERATOR_TOKEN } from './start-gateway.js';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway(() => ({ OBSERVATORY_TRUST_PROXY: '1' }));

/** As a proxy passes a page's request on that names its own target in Host. */
const PASSED_ON = {
  origin: 'https://ops.example.org',
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'ops.example.org',
};
/** A page of another site. The caller's own word for the host stands ahead of the proxy's. */
const FOREIGN = {
  ...PASSED_ON,
  origin: 'https://evil.example.net',
  'x-forwarded-host': 'evil.example.net, ops.example.org',
};

const login = (headers: Record<string, string>, token = OPERATOR_TOKEN): Promise<Response> =>
  fetch(`${gateway.url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ token, operator_id: 'ada' }),
  });

function connect(headers: Record<string, string>): Promise<'connected' | 'refused'> {
  const socket = io(`${gateway.url}/live`, {
    transports: ['websocket'],
    extraHeaders: headers,
    reconnection: false,
    forceNew: true,
  });
  return new Promise<'connected' | 'refused'>((resolve) => {
    socket.once('connect', () => resolve('connected'));
    socket.once('connect_error', () => resolve('refused'));
  }).finally(() => socket.close());
}

it('knows the page by the host that the proxy was called by, in requests and on sockets', async () => {
  const answer = await login(PASSED_ON);
  expect(answer.status).toBe(200);
  const [cookie = ''] = answer.headers.getSetCookie();
  expect(cookie).toContain('; Secure');
  const headers = { cookie: cookie.split(';', 1)[0] as string };
  expect(await connect({ ...PASSED_ON, ...headers })).toBe('connected');
  expect(await connect({ ...FOREIGN, ...headers })).toBe('refused');
  expect((await login(FOREIGN)).status).toBe(403);
});

it('opens its metrics to nobody without a token: a proxy that says nothing is not told from this machine', async () => {
  const { port } = new URL(gateway.url);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
    expect((await fetch(`http://${host}/metrics`)).status, host).toBe(401);
  expect(
    (await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } }))
      .status,
  ).toBe(200);
});

it('says once that the proxy does not name its callers', async () => {
  const count = () => gateway.output().match(/"event":"proxy_misfit"/g)?.length ?? 0;
  expect((await login(PASSED_ON)).status).toBe(200);
  expect(count()).toBe(0);
  for (let time = 0; time < 2; time += 1) expect((await login({})).status).toBe(200);
  await expect.poll(count).toBe(1);
  expect(gateway.output()).toContain('X-Forwarded-For');
});

it('slows down guesses by the address the proxy saw, whatever address the caller names', async () => {
  const statuses: number[] = [];
  for (let guess = 0; guess < 11; guess += 1) {
    const headers = { 'x-forwarded-for': `10.0.0.${guess}, 203.0.113.7` };
    statuses.push((await login(headers, `wrong-${guess}`)).status);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429]);
});
