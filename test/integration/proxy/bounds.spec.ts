/** What all proxied calls share has bounds, and one tenant at its bound takes nothing from another. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScriptedUpstream } from '#testing';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { always, openaiChat } from './vendors.js';

const BODY_BYTES_MAX = 1_000_000;
/** Of eight, a tenant's half. */
const CALLS_PER_TENANT_MAX = 4;

let upstream: ScriptedUpstream;
let gateway: RunningGateway;
let otherKey: string;
beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-upstream',
      PROXY_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
      PROXY_INFLIGHT_BYTES_MAX: String(2 * BODY_BYTES_MAX),
      UPSTREAM_CALLS_MAX: String(2 * CALLS_PER_TENANT_MAX),
    },
  });
  const made = await gateway.operator('POST', '/v1/agent-keys', { name: 'other', tenant_id: 'other' });
  otherKey = made.body.secret;
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
  await upstream.close();
});

interface AskOptions {
  key?: string;
  session?: string;
  padding?: number;
  signal?: AbortSignal;
  chunked?: boolean;
}

let serial = 0;
const ask = async ({ key = AGENT_KEY, session, padding = 0, signal, chunked }: AskOptions = {}) => {
  serial += 1;
  const text = JSON.stringify({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: `Question ${serial * 7919}` }],
    padding: 'x'.repeat(padding),
  });
  const response = await fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
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
