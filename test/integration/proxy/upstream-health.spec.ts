/** What `GET /v1/system` says of the vendors, by what became of real calls to them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { respondJson } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  OBSERVATORY_UPSTREAM_GONE_URL: 'http://127.0.0.1:9/v1',
}));

async function ask(agent: string, name = 'openai', headers = {}): Promise<number> {
  const answer = await fetch(`${gateway.url}/agents/${agent}/proxy/${name}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-observatory-key': AGENT_KEY, ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: `I am ${agent}.` }] }),
  });
  await answer.text();
  return answer.status;
}

const healthOf = async (name: string) =>
  (await gateway.operator('GET', '/v1/system')).body.upstreams.find(
    (one: { name: string }) => one.name === name,
  );

const answers = (status: number, body: object) =>
  upstream.script((_call, response) => respondJson(response, status, body));

test('a vendor that fails is failing, since when and for how many agents is told, and one answer ends it', async () => {
  answers(200, { id: 'c', model: 'gpt-4o-mini', choices: [] });
  expect(await ask('scout')).toBe(200);
  answers(400, { error: { type: 'invalid_request_error' } });
  expect(await ask('clumsy')).toBe(400);
  await expect
    .poll(() => healthOf('openai'))
    .toMatchObject({ state: 'serving', call_count: 2, failed_count: 0 });

  const beforeMs = Date.now();
  answers(503, { error: { type: 'overloaded_error' } });
  for (const agent of ['scout', 'writer', 'scout']) expect(await ask(agent)).toBe(503);
  await expect
    .poll(() => healthOf('openai'))
    .toMatchObject({
      state: 'failing',
      call_count: 5,
      failed_count: 3,
      failed_agent_count: 2,
      last_failure: { status: 503, detail: expect.stringContaining('overloaded_error') },
    });
  const { failing_since_ms, answered_at_ms } = await healthOf('openai');
  expect(failing_since_ms).toBeGreaterThanOrEqual(beforeMs - 5);
  expect(answered_at_ms).toBeLessThanOrEqual(failing_since_ms);

  answers(200, { id: 'c', model: 'gpt-4o-mini', choices: [] });
  expect(await ask('scout')).toBe(200);
  await expect.poll(() => healthOf('openai')).toMatchObject({ state: 'faltering', failing_since_ms: null });
});

test('an agent whose own key alone is refused does not fail the vendor of all, and is named', async () => {
  await gateway.operator('PUT', '/v1/upstreams/shared', { base_url: `${upstream.origin}/v1` });
  upstream.script(({ headers }, response) =>
    headers.authorization === 'Bearer sk-bad'
      ? respondJson(response, 401, { error: { type: 'invalid_api_key' } })
      : respondJson(response, 200, { id: 'c', model: 'gpt-4o-mini', choices: [] }),
  );
  expect(await ask('scout', 'shared', { authorization: 'Bearer sk-good' })).toBe(200);
  const refused = () => ask('lone', 'shared', { authorization: 'Bearer sk-bad' });
  for (let sent = 0; sent < 4; sent += 1) expect(await refused()).toBe(401);
  await expect
    .poll(() => healthOf('shared'))
    .toMatchObject({ state: 'faltering', call_count: 5, failed_count: 4, failed_agent_id: 'lone' });

  await gateway.operator('PUT', '/v1/upstreams/shared', { api_key: 'sk-bad' });
  for (let sent = 0; sent < 3; sent += 1) expect(await ask('lone', 'shared')).toBe(401);
  await expect.poll(() => healthOf('shared')).toMatchObject({ state: 'failing', failed_agent_id: 'lone' });
  await gateway.operator('DELETE', '/v1/upstreams/shared');
});

test('one that cannot be reached fails, and a call that a guard refuses says nothing of it', async () => {
  for (let sent = 0; sent < 3; sent += 1) expect(await ask('scout', 'gone')).toBe(502);
  await expect
    .poll(() => healthOf('gone'))
    .toMatchObject({ state: 'failing', failed_count: 3, answered_at_ms: null });
  expect((await healthOf('gone')).last_failure.detail).toContain('could not be reached');

  await gateway.operator('PATCH', '/v1/agents/idle/policy', { active: false });
  expect(await ask('idle', 'gone')).toBeGreaterThanOrEqual(400);
  await expect
    .poll(async () => (await gateway.operator('GET', '/v1/calls?agent_id=idle')).body.items)
    .toHaveLength(1);
  expect(await healthOf('gone')).toMatchObject({ call_count: 3 });
});

test('one that an operator removed is not told of any more', async () => {
  const own = createServer((_request, response) => respondJson(response, 500, {})).listen(0, '127.0.0.1');
  await expect.poll(() => own.address()).not.toBeNull();
  const { port } = own.address() as AddressInfo;
  await gateway.operator('PUT', '/v1/upstreams/local', { base_url: `http://127.0.0.1:${port}/v1` });
  expect(await ask('scout', 'local')).toBe(500);
  await expect.poll(() => healthOf('local')).toMatchObject({ state: 'serving', failed_count: 1 });
  await gateway.operator('DELETE', '/v1/upstreams/local');
  expect(await healthOf('local')).toBeUndefined();
  own.close();
});

test('Prometheus counts what an upstream answers and fails, though a failure is passed on as it came', async () => {
  await gateway.operator('PUT', '/v1/upstreams/gemini', { base_url: `${upstream.origin}/v1` });
  for (const status of [200, 400, 429, 503]) {
    answers(status, {});
    expect(await ask('scout', 'gemini')).toBe(status);
  }
  await expect
    .poll(async () => (await fetch(`${gateway.url}/metrics`)).text())
    .toContain(
      [
        'observatory_proxy_upstream_calls_total{upstream="gemini",outcome="answered"} 2',
        'observatory_proxy_upstream_calls_total{upstream="gemini",outcome="failed"} 2',
      ].join('\n'),
    );
});
