/** Human in the loop over HTTP, against a real gateway: commands, what agents are told, what survives a restart. */
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { io } from 'socket.io-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startAgain, startOneGateway } from './start-one-gateway.js';

const run = promisify(execFile);
startOneGateway();

let serial = 0;
const step = (session_id: string, overrides: Record<string, unknown> = {}) => {
  serial += 1;
  return buildDecisionLog({ meta: { trace_id: `control-${serial}`, session_id }, ...overrides } as never);
};
const post = async (session: string, overrides = {}) =>
  (await gateway.ingest(step(session, overrides))).json();
const command = (session: string, name: string, body: unknown = {}) =>
  gateway.operator('POST', `/v1/sessions/${session}/${name}`, body);
const poll = async (session: string, query = '') =>
  (
    await fetch(`${gateway.url}/v1/sessions/${session}/control?${query}`, {
      headers: { authorization: `Bearer ${gateway.agentKey}` },
    })
  ).json() as Promise<any>;
const logs = async (session: string) =>
  (await gateway.operator('GET', `/v1/sessions/${session}/decision-logs`)).body.items;

/** What a page of this gateway's is shown of a topic. */
function watch(): (topic: string) => Promise<any> {
  const socket = io(`${gateway.url}/live`, {
    auth: { token: gateway.operatorToken },
    transports: ['websocket'],
  });
  onTestFinished(() => void socket.disconnect());
  return async (topic) => (await socket.emitWithAck('subscribe', { topic })).snapshot;
}

describe('commands', () => {
  test('answer exactly as the contract has it', async () => {
    await post('contract');
    expect(await command('contract', 'resume')).toMatchObject({
      status: 200,
      body: { status: 'ok', note: 'not_paused', flushed_count: 0 },
    });
    expect(await command('contract', 'pause', { reason: 'look' })).toEqual({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await command('contract', 'pause', { reason: 'look' })).toEqual({
      status: 200,
      body: { status: 'ok', note: 'already_paused' },
    });
    await post('contract');
    expect(await command('contract', 'resume', { reason: 'seen' })).toEqual({
      status: 200,
      body: { status: 'ok', flushed_count: 1 },
    });
    expect((await gateway.operator('GET', '/v1/audit?session_id=contract&limit=1')).body.items).toMatchObject(
      [{ action: 'resume', detail: { reason: 'seen' } }],
    );
    expect((await command('contract', 'terminate', { reason: 'enough' })).body).toEqual({ status: 'ok' });
    expect(await command('contract', 'resume')).toMatchObject({
      status: 409,
      body: { reason: 'session_terminated' },
    });
    expect((await post('contract')).control.state).toBe('terminated');
  });

  test('name what is missing', async () => {
    await post('fields');
    expect(await command('fields', 'pause')).toMatchObject({ status: 422, body: { fields: ['reason'] } });
    expect(await command('fields', 'inject')).toMatchObject({ status: 422, body: { fields: ['prompt'] } });
    expect(await command('fields', 'rewrite')).toMatchObject({
      status: 422,
      body: { fields: expect.arrayContaining(['trace_id', 'new_content']) },
    });
    expect((await command('nobody', 'pause', { reason: 'x' })).status).toBe(404);
  });

  test("of a confirmation say what it may name, and to an operator that it is an agent's", async () => {
    await post('confirmed');
    const confirm = async (key: string | null) => {
      const response = await fetch(`${gateway.url}/v1/sessions/confirmed/control/ack`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{}',
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await confirm(gateway.agentKey)).toMatchObject({
      status: 422,
      body: { fields: ['seq', 'directive_ids'], detail: 'Give seq, or directive_ids.' },
    });
    expect(await confirm(gateway.operatorToken)).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining("An operator token or a vendor's key does not work here") },
    });
  });

  test('refuse a field that they do not have, by its name, and do nothing', async () => {
    await post('strict');
    expect(await command('strict', 'pause', { reason: 'x', until: 'noon' })).toMatchObject({
      status: 422,
      body: { fields: ['until'], detail: 'there is no such field: until' },
    });
    expect((await command('strict', 'resume', { until: 'noon' })).status).toBe(422);
    expect((await post('strict')).control.state).toBe('active');

    const authorization = `Bearer ${gateway.agentKey}`;
    const acknowledge = async (body: object) => {
      const response = await fetch(`${gateway.url}/v1/sessions/strict/control/ack`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as unknown };
    };
    const refused = (...fields: string[]) => ({ status: 422, body: { fields } });
    expect(await acknowledge({ seq: 0, session: 'strict' })).toMatchObject(refused('session'));
    expect(await acknowledge({ seq: 0, directive_ids: ['d-1'] })).toMatchObject(refused('seq'));
    expect((await acknowledge({ seq: 0 })).status).toBe(200);

    const socket = io(`${gateway.url}/agents`, {
      auth: { key: gateway.agentKey },
      transports: ['websocket'],
    });
    const watch = (body: unknown) => socket.emitWithAck('watch_control', body);
    expect(await watch({ session_id: 'strict', sesion: 1 })).toMatchObject({ fields: ['sesion'] });
    expect(await watch(null)).toMatchObject({ reason: 'invalid_fields', fields: ['session_id'] });
    expect(await watch({ session_id: 'strict' })).toEqual({ status: 'ok' });
    socket.disconnect();
  });

  test('need a name, a role and a token', async () => {
    await post('roles');
    const call = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1/sessions/roles/pause`, { method: 'POST', headers, body: '{"reason":"x"}' });
    const json = { 'content-type': 'application/json' };
    const nameless = await call({ ...json, authorization: `Bearer ${gateway.operatorToken}` });
    expect([nameless.status, ((await nameless.json()) as any).reason]).toEqual([401, 'missing_operator_id']);
    expect((await call(json)).status).toBe(401);
    const { body } = await gateway.operator('POST', '/v1/operators', { name: 'viewer', role: 'viewer' });
    const viewer = { ...json, authorization: `Bearer ${body.secret}`, 'x-observatory-operator-id': 'vic' };
    expect((await call(viewer)).status).toBe(403);
    expect((await call({ ...json, authorization: `Bearer ${gateway.agentKey}` })).status).toBe(403);
  });

  test('by two operators at once: one pauses, the other is told', async () => {
    await post('race');
    const answers = await Promise.all([1, 2, 3].map(() => command('race', 'pause', { reason: 'me first' })));
    expect(answers.map(({ body }) => body.note ?? 'paused').sort()).toEqual([
      'already_paused',
      'already_paused',
      'paused',
    ]);
  });
});

describe('a paused session', () => {
  test('holds its messages in order, lets one be rewritten, and publishes them on resume', async () => {
    await post('held');
    await command('held', 'pause', { reason: 'look' });
    const first = step('held', { action: { tool_input: { amount: 9_000 } } });
    expect((await (await gateway.ingest(first)).json()).control.state).toBe('paused');
    await post('held', { cognition: { intent: 'second' } });
    expect((await gateway.operator('GET', '/v1/sessions/held')).body).toMatchObject({
      step_count: 1,
      control: { held_count: 2 },
    });
    const rewrite = await command('held', 'rewrite', {
      trace_id: first.meta.trace_id,
      new_content: { amount: 9 },
    });
    expect(rewrite.body).toEqual({ status: 'ok' });
    expect((await command('held', 'rewrite', { trace_id: 'nothing', new_content: 'x' })).status).toBe(404);
    expect(
      await command('held', 'rewrite', {
        trace_id: first.meta.trace_id,
        new_content: { ids: [{ id: 2 ** 60 }] },
      }),
    ).toMatchObject({
      status: 422,
      body: { fields: ['new_content'], detail: expect.stringContaining('as text') },
    });
    expect((await poll('held', 'after=0')).directives.map(({ type }: any) => type)).toEqual([
      'pause',
      'rewrite',
    ]);
    expect((await command('held', 'resume')).body).toEqual({ status: 'ok', flushed_count: 2 });
    const items = await logs('held');
    expect(items.slice(-2).map((item: any) => [item.action.tool_input?.amount, item.gateway.held])).toEqual([
      [9, false],
      [undefined, false],
    ]);
    expect(items.at(-2).gateway.rewritten_by).toBe('tester');
  });

  test('loses and reorders nothing when steps keep coming while it is resumed', async () => {
    await post('flood');
    await command('flood', 'pause', { reason: 'look' });
    const sending = (async () => {
      for (let count = 0; count < 150; count += 1)
        await post('flood', { cognition: { intent: `n${count}` } });
    })();
    const heldCount = async () =>
      (await gateway.operator('GET', '/v1/sessions/flood')).body.control.held_count;
    await expect.poll(heldCount, { interval: 1 }).toBeGreaterThan(10);
    expect((await command('flood', 'resume')).body.flushed_count).toBeLessThan(150);
    await command('flood', 'pause', { reason: 'again' });
    await command('flood', 'resume');
    await sending;
    await expect
      .poll(async () => (await gateway.operator('GET', '/v1/sessions/flood')).body.step_count, {
        timeout: 5_000,
      })
      .toBe(151);
    const { body } = await gateway.operator('GET', '/v1/sessions/flood/decision-logs?limit=500');
    expect(body.items.slice(1).map((item: any) => item.cognition.intent)).toEqual(
      Array.from({ length: 150 }, (_, count) => `n${count}`),
    );
    expect(body.items.some((item: any) => item.gateway.held)).toBe(false);
  });

  test("wakes the agent's long poll, and so counts as acknowledged", async () => {
    await post('woken');
    const polling = poll('woken', 'wait_s=30');
    await expect
      .poll(async () => (await gateway.operator('GET', '/v1/sessions/woken')).body.control.mode)
      .toBe('cooperative');
    await command('woken', 'pause', { reason: 'look' });
    expect(await polling).toMatchObject({ state: 'paused', directives: [{ type: 'pause', reason: 'look' }] });
    await expect
      .poll(async () => (await gateway.operator('GET', '/v1/sessions/woken')).body.control.state)
      .toBe('paused');
  });

  test('stays paused over kill -9, holds what it held, and the directives too', async () => {
    await post('survivor');
    await command('survivor', 'pause', { reason: 'overnight' });
    await post('survivor', { cognition: { intent: 'held over the crash' } });
    await command('survivor', 'inject', { prompt: 'try the archive' });
    await gateway.kill();
    await startAgain();
    expect((await post('survivor')).control).toMatchObject({ state: 'paused' });
    const polled = await poll('survivor', 'after=0');
    expect(polled.directives.map(({ type, prompt }: any) => prompt ?? type)).toEqual([
      'pause',
      'try the archive',
    ]);
    expect((await command('survivor', 'resume')).body).toEqual({ status: 'ok', flushed_count: 2 });
    expect((await logs('survivor')).map((item: any) => item.gateway.held)).toEqual([false, false, false]);
  });
});

test('what is let go after kill -9 stands in the window, and on the map, as it would have without', async () => {
  for (let count = 0; count < 4; count += 1) await post('let-go');
  await command('let-go', 'pause', { reason: 'overnight' });
  expect((await post('let-go')).entropy.severity).toBe('loop');
  await gateway.kill();
  await startAgain();
  const shown = watch();
  expect((await command('let-go', 'resume')).body).toEqual({ status: 'ok', flushed_count: 1 });
  const { body } = await gateway.operator('GET', '/v1/sessions/let-go');
  expect(body).toMatchObject({ severity: 'loop', step_count: 5 });
  expect(body.window).toHaveLength(5);
  const { nodes } = await shown('gateway:topology');
  expect(nodes.find(({ session_id }: any) => session_id === 'let-go')).toMatchObject({
    state: 'alert_entropy',
    step_count: 1,
  });
});

test('the map and the alerts show after kill -9 what went round in circles, and nothing that was terminated', async () => {
  const identity = (agent_id: string) => ({ identity: { agent_id } });
  for (let count = 0; count < 5; count += 1) {
    await post('circles', identity('circling'));
    await post('was-ended', identity('ended'));
  }
  await post('at-work', identity('working'));
  const saved = async () => (await gateway.operator('GET', '/v1/sessions?agent_id=ended')).body.items;
  await expect.poll(saved).toMatchObject([{ step_count: 5, ended: false }]);
  await command('was-ended', 'terminate', { reason: 'enough' });
  await gateway.kill();
  await startAgain();
  const shown = watch();
  const ours = ['circles', 'was-ended', 'at-work'];
  const alerts = await shown('gateway:entropy_alerts');
  expect(alerts.map(({ session_id }: any) => session_id).filter((id: string) => ours.includes(id))).toEqual([
    'circles',
  ]);
  const { nodes } = await shown('gateway:topology');
  expect(
    nodes
      .filter(({ session_id }: any) => ours.includes(session_id))
      .map(({ agent_id, session_id, state, step_count }: any) => [agent_id, session_id, state, step_count]),
  ).toEqual([
    ['circling', 'circles', 'alert_entropy', 0],
    ['working', 'at-work', 'active', 0],
  ]);
  await post('circles', { ...identity('circling'), cognition: { intent: 'read it' } });
  await post('circles', { ...identity('circling'), cognition: { intent: 'sum it up' } });
  await expect
    .poll(async () => {
      const node = (await shown('gateway:topology')).nodes.find(
        ({ session_id }: any) => session_id === 'circles',
      );
      return [node.state, node.step_count];
    })
    .toEqual(['active', 2]);
});

test('guidance is in every answer of a batch, and of one sent again because its answer was lost, until the next request', async () => {
  await post('batch');
  await command('batch', 'inject', { prompt: 'try the archive' });
  const batch = [step('batch'), step('batch')];
  const told = async () =>
    ((await (await gateway.ingest(batch)).json()) as any).results.map(({ control }: any) =>
      control.directives.map(({ prompt }: any) => prompt),
    );
  expect(await told()).toEqual([['try the archive'], ['try the archive']]);
  expect(await told()).toEqual([['try the archive'], ['try the archive']]);
  batch.push(step('batch'));
  expect((await told()).at(-1)).toEqual(['try the archive']);
  expect((await post('batch')).control.directives).toEqual([]);
});

describe('hitl_required', () => {
  test('pauses the session before the step is shown to anybody', async () => {
    const answer = await post('approval', {
      control: { hitl_required: true },
      cognition: { intent: 'wire 9,000 EUR' },
    });
    expect(answer.control.state).toBe('paused');
    const { body } = await gateway.operator('GET', '/v1/sessions/approval');
    expect(body).toMatchObject({
      step_count: 0,
      last_intent: '',
      control: { operator_id: 'system', held_count: 1 },
    });
    expect((await command('approval', 'resume')).body.flushed_count).toBe(1);
    expect((await gateway.operator('GET', '/v1/sessions/approval')).body.last_intent).toBe('wire 9,000 EUR');
  });
});

describe('an abandoned pause', () => {
  test('expires into what the settings say, by the system, in the audit', async () => {
    await gateway.operator('PATCH', '/v1/config', {
      hitl_pause_ttl_ms: 200,
      hitl_expiry_action: 'terminate',
    });
    await post('abandoned');
    await command('abandoned', 'pause', { reason: 'coffee' });
    await expect
      .poll(async () => (await post('abandoned')).control.state, { timeout: 10_000 })
      .toBe('terminated');
    await gateway.operator('PATCH', '/v1/config', { hitl_pause_ttl_ms: null, hitl_expiry_action: null });
    const { body } = await gateway.operator('GET', '/v1/audit?session_id=abandoned');
    expect(body.items.map((entry: any) => [entry.action, entry.operator_id])).toContainEqual([
      'hitl.expire',
      'system',
    ]);
  });
});

describe('the audit', () => {
  test('exports as JSONL that the command verifies, and a changed line does not pass', async () => {
    const exported = await fetch(`${gateway.url}/v1/audit/export`, {
      headers: { authorization: `Bearer ${gateway.operatorToken}` },
    });
    const text = await exported.text();
    expect(exported.headers.get('content-type')).toContain('application/x-ndjson');
    const file = join(gateway.dataDir, 'audit.jsonl');
    writeFileSync(file, text);
    const verify = () => run(process.execPath, [resolve('scripts/audit-verify.mjs'), '--file', file]);
    await verify();
    writeFileSync(file, text.replace('"overnight"', '"overnite"'));
    await expect(verify()).rejects.toMatchObject({ code: 1 });
    expect((await gateway.operator('GET', '/v1/audit/verify')).body.ok).toBe(true);
  });
});

/** An agent in a process of its own that polls for ever, and writes down each answer's state. */
const POLLER = `
  let after = '';
  for (;;) {
    const answer = await fetch(process.env.POLL_URL + '?wait_s=55' + after, {
      headers: { authorization: 'Bearer ' + process.env.POLL_KEY },
    });
    const { state, cursor } = await answer.json();
    process.stdout.write(state + '\\n');
    after = '&after=' + cursor;
  }
`;

test('a poller that is stopped in the middle of a poll holds nobody up, and learns what it missed when it goes on', async () => {
  await post('frozen');
  await command('frozen', 'pause', { reason: 'a cursor to begin with' });
  const child = spawn(process.execPath, ['--input-type=module', '-e', POLLER], {
    env: { POLL_URL: `${gateway.url}/v1/sessions/frozen/control`, POLL_KEY: gateway.agentKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = '';
  child.stdout.on('data', (text) => {
    seen += text;
  });
  const states = () => seen.trim().split('\n');
  const hanging = async () =>
    /^observatory_hitl_polls_hanging (\d+)$/m.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1];
  try {
    await expect.poll(states).toEqual(['paused']);
    await expect.poll(hanging).toBe('1');
    child.kill('SIGSTOP');
    expect((await command('frozen', 'resume')).status).toBe(200);
    await expect.poll(hanging).toBe('0');
    expect((await command('frozen', 'pause', { reason: 'again' })).status).toBe(200);
    // Another poll of the same session is answered meanwhile.
    expect((await poll('frozen')).state).toBe('paused');
    expect(states()).toEqual(['paused']);
    child.kill('SIGCONT');
    await expect.poll(states).toEqual(['paused', 'active', 'paused']);
    await expect.poll(hanging).toBe('1');
    // One that is stopped and never goes on leaves nothing behind.
    child.kill('SIGSTOP');
    child.kill('SIGKILL');
    await expect.poll(hanging).toBe('0');
  } finally {
    child.kill('SIGKILL');
  }
});
