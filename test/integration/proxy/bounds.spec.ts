/** What all proxied calls share has bounds, and one tenant at its bound takes nothing from another. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '#kernel';
import { respondEvents, type UpstreamScript } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

const BODY_BYTES_MAX = 1_000_000;
/** Of eight, a tenant's half. */
const CALLS_PER_TENANT_MAX = 4;
const IDLE_TIMEOUT_MS = 1_000;

/** Never answers the handshake, so that there is no connection: as one that does not accept. */
const silent = createServer((socket) => {
  silentSockets.push(socket.on('error', () => {}));
});
const silentSockets: Socket[] = [];
let otherKey: string;
beforeAll(async () => {
  await once(silent.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => void silent.close());
startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  OBSERVATORY_UPSTREAM_SILENT_URL: `https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`,
  OBSERVATORY_UPSTREAM_SILENT_KEY: 'sk-silent',
  PROXY_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
  PROXY_INFLIGHT_BYTES_MAX: String(2 * BODY_BYTES_MAX),
  UPSTREAM_CALLS_MAX: String(2 * CALLS_PER_TENANT_MAX),
  UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_TIMEOUT_MS),
}));
beforeAll(async () => {
  const made = await gateway.operator('POST', '/v1/agent-keys', { name: 'other', tenant_id: 'other' });
  otherKey = made.body.secret;
});

interface AskOptions {
  key?: string;
  to?: 'openai' | 'silent';
  session?: string;
  padding?: number;
  signal?: AbortSignal;
  chunked?: boolean;
}

let serial = 0;
const ask = async ({
  key = AGENT_KEY,
  to = 'openai',
  session,
  padding = 0,
  signal,
  chunked,
}: AskOptions = {}) => {
  serial += 1;
  const text = JSON.stringify({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: `Question ${serial * 7919}` }],
    padding: 'x'.repeat(padding),
  });
  const response = await fetch(`${gateway.url}/proxy/${to}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-observatory-session': session ?? `bounds-${serial}`,
    },
    body: chunked ? new Blob([text]).stream() : text,
    duplex: 'half',
    ...(signal && { signal }),
  } as RequestInit);
  const { error } = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: error?.code, retryAfter: response.headers.get('retry-after') };
};
const metric = async (line: string): Promise<number> => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length + 1),
  );
};

describe('bodies of calls under way', () => {
  test("fill a tenant's half and no other's, are counted while held, and leave with their calls", async () => {
    upstream.script(always(openaiChat, { text: 'ok' }));
    await ask({ session: 'held' });
    await expect.poll(async () => (await gateway.operator('GET', '/v1/sessions/held')).status).toBe(200);
    await gateway.operator('POST', '/v1/sessions/held/pause', { reason: 'look' });
    const client = new AbortController();
    const held = ask({ session: 'held', padding: 900_000, signal: client.signal }).catch(() => 'gone');
    await expect
      .poll(async () => (await gateway.operator('GET', '/v1/held-calls')).body.items)
      .toHaveLength(1);
    expect(await metric('observatory_proxy_body_bytes')).toBeGreaterThan(900_000);

    const refused = { status: 503, code: 'too_many_bytes', retryAfter: '2' };
    expect(await ask({ padding: 500_000 })).toEqual(refused);
    expect(await ask({ padding: 500_000, chunked: true })).toEqual(refused);
    expect((await ask({ padding: 1_000 })).status).toBe(200);
    expect((await ask({ padding: 900_000, key: otherKey })).status).toBe(200);
    expect(await metric('observatory_proxy_no_room_total{what="body_bytes"}')).toBe(2);

    client.abort();
    await held;
    await expect.poll(() => metric('observatory_proxy_body_bytes')).toBe(0);
    expect((await ask({ padding: 500_000 })).status).toBe(200);
  });
});

describe('calls that run to one upstream', () => {
  test("fill a tenant's half and no other's, and leave room when they end", async () => {
    upstream.script(() => {});
    const clients = Array.from({ length: CALLS_PER_TENANT_MAX }, () => new AbortController());
    const hanging = clients.map(({ signal }) => ask({ signal }).catch(() => 'gone'));
    await expect.poll(() => upstream.calls.length).toBe(CALLS_PER_TENANT_MAX);
    upstream.script(always(openaiChat, { text: 'ok' }));

    expect(await ask()).toEqual({ status: 503, code: 'too_many_calls', retryAfter: '2' });
    expect((await ask({ key: otherKey })).status).toBe(200);
    expect(upstream.calls).toHaveLength(1);
    expect(await metric('observatory_proxy_no_room_total{what="upstream_calls"}')).toBe(1);

    for (const client of clients) client.abort();
    await Promise.all(hanging);
    await expect.poll(async () => (await ask()).status).toBe(200);
    for (let time = 0; time < 3 * CALLS_PER_TENANT_MAX; time += 1) expect((await ask()).status).toBe(200);
  });
});

describe('calls whose clients leave before the upstream has taken the connection', () => {
  test('keep their places and their bytes until the attempt to connect has ended', async () => {
    const session = 'left-early';
    const clients = Array.from({ length: CALLS_PER_TENANT_MAX }, () => new AbortController());
    const hanging = clients.map(({ signal }) =>
      ask({ to: 'silent', session, padding: 100_000, signal }).catch(() => 'gone'),
    );
    await expect.poll(() => silentSockets.length).toBe(CALLS_PER_TENANT_MAX);
    for (const client of clients) client.abort();
    await Promise.all(hanging);
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/calls?session_id=${session}`)).body.items)
      .toHaveLength(CALLS_PER_TENANT_MAX);
    expect(await ask({ to: 'silent' })).toMatchObject({ status: 503, code: 'too_many_calls' });
    expect(await metric('observatory_proxy_body_bytes')).toBeGreaterThan(CALLS_PER_TENANT_MAX * 100_000);

    for (const socket of silentSockets) socket.destroy();
    await expect.poll(() => metric('observatory_proxy_body_bytes')).toBe(0);
    silent.close();
    expect(await ask({ to: 'silent' })).toMatchObject({ status: 502, code: 'upstream_unreachable' });
  });
});

describe('a connection', () => {
  /** More than the kernel keeps for a client that does not read. */
  const LARGE_BYTES = 25_000_000;
  const EVENT = `: ${'x'.repeat(62_000)}\n\n`;
  const large: UpstreamScript = (_call, response) =>
    respondEvents(response, Array(Math.ceil(LARGE_BYTES / EVENT.length)).fill(EVENT));
  function* endless(): Generator<string> {
    for (;;) yield EVENT;
  }
  /** All at once on one socket, which reads nothing until told. */
  const pipeline = (agent: string, count: number): Socket => {
    const { port, hostname } = new URL(gateway.url);
    const text = Array.from({ length: count }, (_, at) => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `${agent} ${at}` }] });
      return `POST /agents/${agent}/proxy/openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    }).join('');
    const socket = connect(Number(port), hostname, () => socket.write(text));
    return socket.on('error', () => {});
  };
  const runningCount = async (agent: string): Promise<number> =>
    (await gateway.operator('GET', `/v1/agents/${agent}`)).body.running_call_count;
  const expectNothingLeft = async (agent: string) => {
    await Promise.all(upstream.calls.map((call) => call.aborted));
    await expect.poll(() => runningCount(agent)).toBe(0);
    expect(await metric('observatory_proxy_body_bytes')).toBe(0);
    upstream.script(always(openaiChat, { text: 'ok' }));
    for (let time = 0; time < CALLS_PER_TENANT_MAX; time += 1) expect((await ask()).status).toBe(200);
  };

  test('that closes takes the calls with it whose answers were queued behind another', async () => {
    upstream.script((call, response, index) => index > 0 && large(call, response, index));
    const client = pipeline('leaver', CALLS_PER_TENANT_MAX);
    await expect.poll(() => upstream.calls.length).toBe(CALLS_PER_TENANT_MAX);
    expect(await metric('observatory_proxy_body_bytes')).toBeGreaterThan(0);
    client.destroy();
    await expectNothingLeft('leaver');
  });

  test('whose client reads no more is closed, with all its calls', async () => {
    upstream.script(large);
    const client = pipeline('starer', CALLS_PER_TENANT_MAX);
    await expect.poll(() => upstream.calls.length).toBe(CALLS_PER_TENANT_MAX);
    await expectNothingLeft('starer');
    client.destroy();
    const { items } = (await gateway.operator('GET', '/v1/calls?agent_id=starer')).body;
    expect(items.map((call: { detail: string }) => call.detail)).toContain(
      'The client read nothing for 1 s.',
    );
  });

  /** Resolves when a client that reads nothing is cut off, so that everybody else has had as long. */
  const aStallsTime = async (): Promise<void> => {
    const at = upstream.calls.length;
    const starer = pipeline('starer', 1);
    await expect.poll(() => upstream.calls.length).toBe(at + 1);
    await upstream.calls[at]?.aborted;
    starer.destroy();
  };

  test('stays while its client reads, however slowly, and while the answer ahead is not there yet', async () => {
    const ahead = deferred();
    upstream.script(async ({ json }, response) => {
      const { messages } = json as { messages: { content: string }[] };
      if (messages[0]?.content === 'reader 0') await ahead.promise;
      await respondEvents(response, endless());
    });
    const client = pipeline('reader', 2);
    await expect.poll(() => upstream.calls.length).toBe(2);
    await aStallsTime();
    ahead.resolve();
    let isOver = false;
    const whileReading = aStallsTime().then(() => {
      isOver = true;
    });
    for await (const _ of client) {
      if (isOver) break;
      // The pace of the reader, which nothing waits for.
      await sleep(4);
    }
    expect(isOver).toBe(true);
    await whileReading;
  });
});
