/** Another program holds the database, as a backup or a shell may: nothing can be written, and an agent can be stopped all the same. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SQLite } from '#adapters/sqlite';
import { ScriptedUpstream } from '#testing';
import { always, openaiChat } from './proxy/vendors.js';
import { AGENT_KEY, type RunningGateway, startGateway } from './start-gateway.js';
import { upstreamsAt } from './start-one-gateway.js';

let upstream: ScriptedUpstream;
let gateway: RunningGateway;
beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  gateway = await startGateway({ env: upstreamsAt(upstream.origin) });
});
beforeEach(() => upstream.script(always(openaiChat, { text: 'This.' })));
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

function holdDatabase(): () => void {
  const database = new SQLite(join(gateway.dataDir, 'observatory.db'));
  database.exec('BEGIN IMMEDIATE');
  return () => database.close();
}

async function ask(agent: string): Promise<number> {
  const response = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${AGENT_KEY}`,
      'content-type': 'application/json',
      'x-observatory-session': `session-of-${agent}`,
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is kept?' }] }),
  });
  await response.arrayBuffer();
  return response.status;
}
const heldCount = async () => (await gateway.operator('GET', '/v1/held-calls')).body.items.length;

test("an agent's stop is in force at once, and answered once it is stored", async () => {
  expect(await ask('spender')).toBe(200);
  const release = holdDatabase();
  const stop = gateway.operator('POST', '/v1/agents/spender/deactivate', { reason: 'Enough.' });
  await expect.poll(() => ask('spender')).toBe(403);
  release();
  expect(await stop).toMatchObject({ status: 200, body: { status: 'ok' } });
});

test('a call that comes while its session is being terminated waits, and is refused', async () => {
  expect(await ask('looper')).toBe(200);
  await expect
    .poll(async () => (await gateway.operator('GET', '/v1/sessions/session-of-looper')).status)
    .toBe(200);
  const release = holdDatabase();
  const stop = gateway.operator('POST', '/v1/sessions/session-of-looper/terminate', { reason: 'Enough.' });
  await sleep(100);
  const call = ask('looper');
  await expect.poll(heldCount).toBe(1);
  release();
  expect((await stop).status).toBe(200);
  expect(await call).toBe(403);
  expect(await heldCount()).toBe(0);
});

test('it goes on where the termination is refused in the end, and the operator is told what holds at once', async () => {
  expect(await ask('worker')).toBe(200);
  await expect
    .poll(async () => (await gateway.operator('GET', '/v1/sessions/session-of-worker')).status)
    .toBe(200);
  const release = holdDatabase();
  try {
    const stop = gateway.operator('POST', '/v1/sessions/session-of-worker/terminate', { reason: 'Enough.' });
    await sleep(100);
    const call = ask('worker');
    const { status, body } = await stop;
    expect([status, body.reason]).toEqual([503, 'store_busy']);
    expect(body.detail).toContain('deactivate its agent');
    expect(await call).toBe(200);
  } finally {
    release();
  }
});
