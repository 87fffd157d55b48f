/** Out of a network that lets nothing out but a forward proxy: a real one of Node's own parts, that tunnels to one server whatever it is asked for. */
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isOpensslMissing, selfSigned } from '../self-signed.js';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';

const HOST = 'api.vendor.example';
const PASSWORD = 'hunter 22%';
const AUTHORIZATION = `Basic ${Buffer.from(`ops:${PASSWORD}`).toString('base64')}`;

let vendor: Server;
let proxy: Server;
let gateway: RunningGateway;
let proxyUrl: string;
let vendorCa: string;
/** What the proxy was asked for, and what it says to the next. */
let asked: { to: string | undefined; authorization: string | undefined }[] = [];
let status = 200;
const sockets = new Set<Socket>();

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** As a vendor answers a stream: a piece, and after a while the next. */
function answer(_: IncomingMessage, response: import('node:http').ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const piece = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`;
  response.write(piece('through '));
  setTimeout(() => response.end(`${piece('the tunnel')}data: [DONE]\n\n`), 50);
}

const start = (env: Record<string, string>) =>
  startGateway({
    env: {
      OBSERVATORY_UPSTREAM_VENDOR_URL: `https://${HOST}/v1`,
      OBSERVATORY_UPSTREAM_VENDOR_KEY: 'sk-scripted',
      NODE_EXTRA_CA_CERTS: vendorCa,
      ...env,
    },
  });

const withPassword = () => proxyUrl.replace('//', `//ops:${encodeURIComponent(PASSWORD)}@`);

const client = () =>
  new OpenAI({ baseURL: `${gateway.url}/proxy/vendor/v1`, apiKey: AGENT_KEY, maxRetries: 0 });

async function ask(): Promise<string> {
  let text = '';
  const messages = [{ role: 'user' as const, content: 'Who lets you out?' }];
  for await (const chunk of await client().chat.completions.create({ model: 'm', stream: true, messages }))
    text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

beforeAll(async () => {
  if (isOpensslMissing) return;
  const tls = selfSigned(`DNS:${HOST}`);
  vendorCa = tls.file;
  vendor = createHttpsServer(tls, answer);
  const vendorPort = await portOf(vendor);
  proxy = createHttpServer((_, response) => response.writeHead(400).end());
  proxy.on('connect', ({ url, headers }: IncomingMessage, socket: Socket) => {
    asked.push({ to: url, authorization: headers['proxy-authorization'] });
    sockets.add(socket);
    socket.on('error', () => {});
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const onward = connect(vendorPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
  });
  proxyUrl = `http://127.0.0.1:${await portOf(proxy)}`;
});
beforeEach(() => {
  asked = [];
  status = 200;
});
afterEach(async () => {
  expect(await gateway?.stop()).toBe(0);
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  vendor?.close();
  proxy?.close();
});

test.skipIf(isOpensslMissing)(
  'a call leaves through the proxy that HTTPS_PROXY names, with its password, and no log line has that',
  async () => {
    gateway = await start({ HTTPS_PROXY: withPassword() });
    expect(await ask()).toBe('through the tunnel');
    expect(await ask()).toBe('through the tunnel');
    // The connection is kept for the next call, as without a proxy.
    expect(asked).toEqual([{ to: `${HOST}:443`, authorization: AUTHORIZATION }]);
    await expect.poll(() => gateway.output()).toContain('"event":"forward_proxy"');
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), AUTHORIZATION])
      expect(gateway.output()).not.toContain(secret);
  },
);

test.skipIf(isOpensslMissing)('who leaves closes the tunnel: the vendor stops generating', async () => {
  gateway = await start({ https_proxy: proxyUrl });
  const messages = [{ role: 'user' as const, content: 'Who lets you out?' }];
  const stream = await client().chat.completions.create({ model: 'm', stream: true, messages });
  const [socket] = [...sockets].slice(-1) as [Socket];
  stream.controller.abort();
  await expect.poll(() => socket.destroyed).toBe(true);
});

test.skipIf(isOpensslMissing).each([
  [407, 'the forward proxy asks for a name and a password (407)'],
  [403, 'the forward proxy does not let it through (403)'],
])('a proxy that answers %i is named to the caller, and where to look', async (refused, words) => {
  gateway = await start({ HTTPS_PROXY: proxyUrl });
  status = refused;
  await expect(ask()).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining(
      `The upstream vendor could not be reached: ${words}. Look at HTTPS_PROXY and NO_PROXY.`,
    ),
  });
});

test.skipIf(isOpensslMissing)('so is one that is away', async () => {
  gateway = await start({ HTTPS_PROXY: 'http://127.0.0.1:9' });
  await expect(ask()).rejects.toThrow(
    'of the forward proxy, the connection was refused. Look at HTTPS_PROXY',
  );
});

test.skipIf(isOpensslMissing)('the vendor must prove who it is, whatever the proxy let through', async () => {
  gateway = await start({ HTTPS_PROXY: proxyUrl, NODE_EXTRA_CA_CERTS: '' });
  await expect(ask()).rejects.toThrow('its TLS certificate is self-signed');
});

test.skipIf(isOpensslMissing)('what NO_PROXY names goes straight', async () => {
  gateway = await start({ HTTPS_PROXY: proxyUrl, NO_PROXY: '.vendor.example' });
  await expect(ask()).rejects.toThrow('the host name');
  expect(asked).toEqual([]);
});
