/** What only a real socket shows of the exchange with an upstream. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UpstreamClient, type UpstreamFailure, type UpstreamSink } from '#adapters/upstream-http';
import { ScriptedUpstream } from '#testing';

const HEADERS_TIMEOUT_MS = 300;

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

/** Resolves with the status, or with how it failed. */
const ask = (path: string): Promise<number | UpstreamFailure> =>
  new Promise((resolve) => {
    const sink: UpstreamSink = {
      sent: () => {},
      head: resolve,
      chunk: () => true,
      end: () => {},
      failed: resolve,
    };
    client.send({ origin: upstream.origin, path, method: 'GET', headers: [], body: null }, sink);
  });

test('the wait for a socket counts against the time an upstream has to begin its answer', async () => {
  // The only socket is taken by an answer that begins and never ends.
  upstream.script((_call, response) => {
    response.writeHead(200);
    response.write('a');
  });
  expect(await ask('/endless')).toBe(200);
  expect(await ask('/waiting')).toBe('timeout');
  expect(upstream.calls.map(({ url }) => url)).toEqual(['/endless']);
});
