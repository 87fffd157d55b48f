/** What only a real socket shows of the exchange with an upstream. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  UpstreamClient,
  type UpstreamExchange,
  type UpstreamFailure,
  type UpstreamSink,
} from '#adapters/upstream-http';
import { ScriptedUpstream } from '#testing';

/** Where an upstream is to be too late. */
const HEADERS_TIMEOUT_MS = 300;
/** Where it is not about time. */
const PATIENT_MS = 30_000;

let upstream: ScriptedUpstream;
let client: UpstreamClient;
beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  client = new UpstreamClient({
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    idleTimeoutMs: 60_000,
    connectionsMax: 1,
  });
});
afterAll(async () => {
  await client.close();
  await upstream.close();
});

const untold: UpstreamSink = {
  sent: () => {},
  head: () => {},
  chunk: () => true,
  end: () => {},
  failed: () => {},
};

/** Resolves with the status, or with how it failed. */
const ask = (
  path: string,
  { from = client, origin = upstream.origin, onCode = (_: string) => {} } = {},
): Promise<number | UpstreamFailure> =>
  new Promise((resolve) => {
    const sink: UpstreamSink = {
      ...untold,
      head: resolve,
      failed: (failure, code) => {
        onCode(code);
        resolve(failure);
      },
    };
    from.send({ origin, path, method: 'GET', headers: [], body: [] }, sink);
  });

/** As a name server that knows one name, and as `node:dns` gives it. */
const leadingTo =
  (addresses: string[]): LookupFunction =>
  (_host, { all }, callback) =>
    all
      ? callback(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        )
      : callback(null, addresses[0] as string, 4);

test('the wait for a socket counts against the time an upstream has to begin its answer', async () => {
  // The only socket is taken by an answer that begins and never ends.
  upstream.script((_call, response) => {
    response.writeHead(200);
    response.write('a');
  });
  // It has as little time to begin as the other has to wait: on a busy machine it may take a second try.
  await expect.poll(() => ask('/endless')).toBe(200);
  expect(await ask('/waiting')).toBe('timeout');
  expect(upstream.calls.map(({ url }) => url)).not.toContain('/waiting');
});

test.each([
  ['an address', 'http://169.254.169.254', ['127.0.0.1']],
  ['an address within an address', 'http://[::ffff:169.254.169.254]', ['127.0.0.1']],
  ['a name', 'http://upstream.test', ['169.254.169.254']],
  ['a name of another address too', 'http://upstream.test', ['127.0.0.1', '169.254.169.254']],
  ['a name of another address behind', 'http://upstream.test', ['169.254.169.254', '127.0.0.1']],
])('never connects to a metadata service that is named by %s', async (_, host, addresses) => {
  // Somebody listens at the harmless one of them.
  const origin = `${host}:${new URL(upstream.origin).port}`;
  upstream.script((_call, response) => response.end());
  const careful = new UpstreamClient({
    headersTimeoutMs: PATIENT_MS,
    idleTimeoutMs: 60_000,
    connectionsMax: 1,
    lookup: leadingTo(addresses),
  });
  const codes: string[] = [];
  const outcome = ask('/latest/meta-data', { from: careful, origin, onCode: (code) => codes.push(code) });
  expect([await outcome, codes]).toEqual(['unreachable', ['ADDRESS_REFUSED']]);
  expect(upstream.calls).toEqual([]);
  await careful.close();
});

test('connects for nobody in the place of exchanges that were aborted', async () => {
  const ABORTED_COUNT = 5;
  let [openedCount, closedCount] = [0, 0];
  const begun: string[] = [];
  const counting = createServer(({ url }, response) => {
    begun.push(url as string);
    response.writeHead(200).write('a');
  }).on('connection', (socket) => {
    openedCount += 1;
    socket.on('close', () => {
      closedCount += 1;
    });
  });
  await once(counting.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(counting.address() as AddressInfo).port}`;
  const many = new UpstreamClient({
    headersTimeoutMs: PATIENT_MS,
    idleTimeoutMs: 60_000,
    connectionsMax: 2 * ABORTED_COUNT,
  });
  const exchanges = Array.from({ length: ABORTED_COUNT }, () =>
    many.send({ origin, path: '/aborted', method: 'GET', headers: [], body: [] }, untold),
  );
  await expect.poll(() => begun.length).toBe(ABORTED_COUNT);
  for (const exchange of exchanges) exchange.abort();
  await expect.poll(() => closedCount).toBe(ABORTED_COUNT);
  expect(await ask('/next', { from: many, origin })).toBe(200);
  expect(openedCount).toBe(ABORTED_COUNT + 1);
  await many.close();
  counting.closeAllConnections();
  counting.close();
});

test('connects where a name leads otherwise', async () => {
  upstream.script((_call, response) => response.end());
  const { port } = new URL(upstream.origin);
  const named = new UpstreamClient({
    headersTimeoutMs: PATIENT_MS,
    idleTimeoutMs: 60_000,
    connectionsMax: 1,
    lookup: leadingTo(['127.0.0.1']),
  });
  expect(await ask('/named', { from: named, origin: `http://upstream.test:${port}` })).toBe(200);
  await named.close();
});

test.each([
  ['ends is the next call’s', true, 1],
  ['does not end is closed', false, 2],
])(
  'the connection of an answer whose end nobody waits for, and that %s',
  async (_, ends, connectionCount) => {
    const open: ServerResponse[] = [];
    let connections = 0;
    const server = createServer((_request, response) => {
      response.write('data: [DONE]\n\n');
      open.push(response);
    });
    server.on('connection', () => {
      connections += 1;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const patient = new UpstreamClient({
      headersTimeoutMs: PATIENT_MS,
      idleTimeoutMs: PATIENT_MS,
      connectionsMax: 1,
    });
    onTestFinished(async () => {
      await patient.close();
      server.closeAllConnections();
      server.close();
    });
    const request = { origin, path: '/', method: 'GET', headers: [], body: [] };
    const reported: string[] = [];
    const leave = () =>
      new Promise<UpstreamExchange>((resolve) => {
        const exchange = patient.send(request, {
          ...untold,
          chunk: () => {
            exchange.letEnd();
            resolve(exchange);
            return false;
          },
          end: () => reported.push('end'),
          failed: (failure) => reported.push(failure),
        });
      });
    const first = await leave();
    if (ends) open[0]?.end();
    await new Promise<void>((resolve) => first.whenLetGo(resolve));
    await leave();
    expect(connections).toBe(connectionCount);
    expect(reported).toEqual([]);
  },
);
