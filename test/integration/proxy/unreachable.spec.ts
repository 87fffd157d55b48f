/** Upstreams that nobody gets to: what their callers, and the operators who look at the calls, are told. */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../free-ports.js';
import { isOpensslMissing, type SelfSigned, selfSigned } from '../self-signed.js';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';

const servers: Server[] = [];
let tls: SelfSigned;
let securePort: number;
let plainPort: number;
let gateway: RunningGateway;

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return (server.address() as AddressInfo).port;
};

beforeAll(async () => {
  tls = selfSigned('DNS:localhost');
  securePort = await listen(createHttpsServer(tls, (_, response) => response.end('{}')));
  plainPort = await listen(createHttpServer((_, response) => response.end('{}')));
  const closedPort = await freePort();
  gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_MY_VLLM_URL: `http://127.0.0.1:${closedPort}/v1`,
      OBSERVATORY_UPSTREAM_SECURE_URL: `https://localhost:${securePort}/v1`,
      OBSERVATORY_UPSTREAM_PLAIN_URL: `https://localhost:${plainPort}/v1`,
    },
  });
  await gateway.operator('PUT', '/v1/upstreams/added', { base_url: `http://127.0.0.1:${closedPort}/v1` });
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
  for (const server of servers) server.close();
});

const ask = (name: string, url = gateway.url) =>
  fetch(`${url}/proxy/${name}/v1/models`, {
    headers: { authorization: 'Bearer callers-own', 'x-observatory-key': AGENT_KEY },
  });

test.skipIf(isOpensslMissing).each([
  ['my-vllm', 'the connection was refused', 'OBSERVATORY_UPSTREAM_MY_VLLM_URL'],
  ['added', 'the connection was refused', 'Settings > Upstreams'],
  ['secure', 'its TLS certificate is self-signed', 'NODE_EXTRA_CA_CERTS'],
  ['plain', 'it does not speak TLS', 'OBSERVATORY_UPSTREAM_PLAIN_URL'],
])('%s: says that %s, where to look, and no address', async (name, why, where) => {
  const response = await ask(name);
  expect(response.status).toBe(502);
  const { message } = ((await response.json()) as { error: { message: string } }).error;
  expect(message).toContain(`The upstream ${name} could not be reached: ${why}`);
  expect(message).toContain(where);
  expect(message).not.toMatch(/localhost|127\.0\.0\.1|::1/);

  const id = response.headers.get('x-observatory-call');
  await expect.poll(async () => (await gateway.operator('GET', `/v1/calls/${id}`)).status).toBe(200);
  expect((await gateway.operator('GET', `/v1/calls/${id}`)).body).toMatchObject({ detail: message });
});

test.skipIf(isOpensslMissing)(
  'an upstream behind an authority of its own is reached once NODE_EXTRA_CA_CERTS names it',
  async () => {
    const trusting = await startGateway({
      env: {
        OBSERVATORY_UPSTREAM_SECURE_URL: `https://localhost:${securePort}/v1`,
        NODE_EXTRA_CA_CERTS: tls.file,
      },
    });
    expect((await ask('secure', trusting.url)).status).toBe(200);
    expect(await trusting.stop()).toBe(0);
  },
);
