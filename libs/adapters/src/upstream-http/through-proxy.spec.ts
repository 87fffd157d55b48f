import { createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ForwardProxy } from '#kernel';
import { forwardProxyFailure, throughProxy } from './through-proxy.js';
import { UpstreamClient } from './upstream-client.js';

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** A proxy that does this with whoever connects. */
async function proxyThat(does: (socket: Socket) => void): Promise<ForwardProxy> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    does(socket);
  });
  endings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  return new ForwardProxy(new URL(`http://a%25:b@127.0.0.1:${port}`));
}

const codeThrough = (proxy: ForwardProxy, timeoutMs: number, hostname = 'api.vendor.example') =>
  new Promise<string | undefined>((resolve) => {
    const connect = throughProxy(proxy, () => expect.unreachable(), timeoutMs);
    const to = { hostname, protocol: 'https:', port: '' };
    connect(to, (...[error]) => resolve((error as NodeJS.ErrnoException | null)?.code));
  });

it('waits no longer than it is told for a proxy that says nothing', async () => {
  const code = await codeThrough(await proxyThat(() => {}), 50);
  expect(code).toBe('FORWARD_PROXY_ETIMEDOUT');
  expect(forwardProxyFailure(code as string)).toBe('of the forward proxy, the connection timed out');
});

it.each([
  ['hangs up', (socket: Socket) => void socket.end(), /^FORWARD_PROXY_ECONNRESET$/],
  ['speaks no HTTP', (socket: Socket) => void socket.end('SSH-2.0-x\r\n'), /^FORWARD_PROXY_HPE_/],
])('tells of a proxy that %s', async (_does, does, code) => {
  expect(await codeThrough(await proxyThat(does), 10_000)).toMatch(code);
});

it('asks for an address of IPv6 in brackets, with the name and password as they are meant', async () => {
  const asked = new Promise<string>((resolve) => {
    void proxyThat((socket) => {
      socket.once('data', (bytes) => {
        resolve(String(bytes));
        socket.end('HTTP/1.1 403 No\r\n\r\n');
      });
    }).then((proxy) => codeThrough(proxy, 10_000, 'fd00::7'));
  });
  const lines = (await asked).split('\r\n');
  expect(lines[0]).toBe('CONNECT [fd00::7]:443 HTTP/1.1');
  expect(lines).toContain(`proxy-authorization: Basic ${btoa('a%:b')}`);
});

it('is not asked for a metadata service', async () => {
  const forwardProxy = await proxyThat(() => expect.unreachable());
  const client = new UpstreamClient({
    headersTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    connectionsMax: 1,
    forwardProxy,
  });
  endings.push(() => void client.close());
  const code = await new Promise((resolve) => {
    client.send(
      { origin: 'https://169.254.169.254', path: '/', method: 'GET', headers: [], body: [] },
      { sent() {}, head() {}, chunk: () => true, end() {}, failed: (_failure, why) => resolve(why) },
    );
  });
  expect(code).toBe('ADDRESS_REFUSED');
});
