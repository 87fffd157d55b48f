/**
 * What an operator does stands in the audit or has not happened. On a disk that other programs filled to the last byte there is room
 * kept for it. Where that is gone, too, each act is refused as a whole, says why, and works once there is room again, whether the gateway
 * lives on meanwhile or is killed. Revocations and the stop of an agent alone do not wait.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { buildDecisionLog, ScriptedUpstream } from '#testing';
import { always, openaiChat } from './proxy/vendors.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';
import { AGENT_KEY, type RunningGateway, startGateway } from './start-gateway.js';
import { upstreamsAt } from './start-one-gateway.js';

const DISK_BYTES = 64 * 1024 * 1024;
const SOON = { timeout: 20_000, interval: 250 };
const VERIFY = resolve(import.meta.dirname, '../../scripts/audit-verify.mjs');

const disk = mountSmallDisk(DISK_BYTES) as SmallDisk;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
});
afterAll(() => upstream.close());

interface Act {
  method: string;
  path: string;
  body?: object;
  /** Of its lines in the audit. */
  action: string;
  outcomes?: string[];
  /** What there is to see of it. */
  effect(gateway: RunningGateway): Promise<unknown>;
}

const get = async (gateway: RunningGateway, path: string) => (await gateway.operator('GET', path)).body;
const stateOf = (session: string) => async (gateway: RunningGateway) =>
  (await get(gateway, `/v1/sessions/${session}`)).control.state;
const ask = async (gateway: RunningGateway, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gateway.url}/agents/asker/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is kept?' }] }),
  });
  await response.arrayBuffer();
  return response;
};

const STOP: Act = {
  ...{ method: 'POST', path: '/v1/agents/stopped/deactivate', body: { reason: 'Enough.' } },
  action: 'agent.deactivate',
  effect: async (gateway) => (await get(gateway, '/v1/agents/stopped/policy')).active,
};
const WAITING: readonly Act[] = [
  {
    ...{ method: 'POST', path: '/v1/sessions/to-pause/pause', body: { reason: 'Look.' } },
    action: 'pause',
    effect: stateOf('to-pause'),
  },
  {
    ...{ method: 'POST', path: '/v1/sessions/to-end/terminate', body: { reason: 'Enough.' } },
    action: 'terminate',
    effect: stateOf('to-end'),
  },
  {
    ...{ method: 'PATCH', path: '/v1/config', body: { entropy_window_size: 9 } },
    action: 'config.update',
    effect: async (gateway) => (await get(gateway, '/v1/config')).values.entropy_window_size,
  },
  {
    ...{ method: 'POST', path: '/v1/cache/invalidate', body: {} },
    action: 'invalidate_cache',
    outcomes: ['begun', 'ok'],
    effect: async (gateway) =>
      (await ask(gateway, { 'x-observatory-cache': 'only' })).headers.get('x-observatory-cache'),
  },
  {
    ...{ method: 'POST', path: '/v1/alert-rules', body: { name: 'Loops', type: 'semantic_loop' } },
    action: 'alert_rule.create',
    effect: async (gateway) => (await get(gateway, '/v1/alert-rules')).items.length,
  },
  {
    ...{ method: 'PATCH', path: '/v1/agents/limited/policy', body: { requests_per_minute: 3 } },
    action: 'agent.policy',
    effect: async (gateway) => (await get(gateway, '/v1/agents/limited/policy')).requests_per_minute,
  },
];
const ACTS: readonly Act[] = [...WAITING, STOP];
/** That are about no session. */
const STEPLESS = WAITING.filter(({ path }) => !path.startsWith('/v1/sessions/'));

afterEach(() => disk?.empty());

const start = (folder: string) =>
  startGateway({
    dataDir: join(disk.mountPoint, folder),
    env: { ...upstreamsAt(upstream.origin), LLM_CACHE_BACKEND: 'memory' },
  });
const effectsAt = (gateway: RunningGateway) => Promise.all(WAITING.map(({ effect }) => effect(gateway)));
/** Newest first. */
const linesAt = async (gateway: RunningGateway): Promise<any[]> =>
  (await get(gateway, '/v1/audit?limit=200')).items;
/** An answer is kept behind its end. */
const fillCache = (gateway: RunningGateway) =>
  expect.poll(async () => (await ask(gateway)).headers.get('x-observatory-cache'), SOON).toBe('exact');
const expectWhole = ({ dataDir }: RunningGateway, entryCount: number) =>
  expect(spawnSync(process.execPath, [VERIFY, '--data-dir', dataDir], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(`whole   default: ${entryCount} entries`),
  });
/** With what was kept for operators, too. One line in the audit. */
const fillToTheLastByte = async (gateway: RunningGateway) => {
  disk.fill(0);
  const change = { requests_per_minute: 7 };
  expect((await gateway.operator('PATCH', '/v1/agents/somebody/policy', change)).status).toBe(200);
  disk.fill(0);
};
const doneOf = (lines: any[]) => lines.map(({ action, outcome }) => `${action} ${outcome}`).reverse();
const linesOf = (acts: readonly Act[]) =>
  acts.flatMap(({ action, outcomes = ['ok'] }) => outcomes.map((outcome) => `${action} ${outcome}`));
const STORE_FULL = {
  status: 503,
  body: { reason: 'store_full', detail: expect.stringContaining('The disk takes no writes') },
};

test.skipIf(disk === null).each(['lives on', 'is killed'])(
  'an act on a full disk has not happened, says so, and happens once there is room: a gateway that %s',
  async (fate) => {
    upstream.script(always(openaiChat, { text: 'This.' }));
    const folder = fate.replace(' ', '-');
    let gateway = await start(folder);
    for (const session_id of ['to-pause', 'to-end'])
      expect((await gateway.ingest(buildDecisionLog({ meta: { session_id } }))).status).toBe(202);
    await fillCache(gateway);
    await fillToTheLastByte(gateway);
    const seen = async () => ({ effects: await effectsAt(gateway), lines: await linesAt(gateway) });
    const before = await seen();

    for (const { method, path, body, action } of WAITING) {
      const refused = await gateway.operator(method, path, body);
      expect(refused).toMatchObject(STORE_FULL);
      const isStop = action === 'pause' || action === 'terminate';
      expect(refused.body.detail.includes('deactivate its agent')).toBe(isStop);
    }
    expect(await seen()).toEqual(before);
    // What agents ask goes on, also where an operator wanted an end.
    expect((await ask(gateway, { 'x-observatory-session': 'to-end' })).status).toBe(200);
    if (fate === 'is killed') {
      await gateway.kill();
      disk.clear();
      gateway = await start(folder);
      await fillCache(gateway);
      expect(await seen()).toEqual(before);
    }

    disk.clear();
    const [first, ...others] = WAITING as [Act, ...Act[]];
    const again = async ({ method, path, body }: Act) => (await gateway.operator(method, path, body)).status;
    await expect.poll(() => again(first), SOON).toBe(200);
    for (const act of others) expect(await again(act)).toBeLessThan(300);
    const after = await seen();
    for (const [at, effect] of after.effects.entries()) expect(effect).not.toEqual(before.effects[at]);
    expect(doneOf(after.lines.slice(0, -before.lines.length))).toEqual(linesOf(WAITING));
    expectWhole(gateway, after.lines.length);
    expect(await gateway.stop()).toBe(0);
  },
);

test.skipIf(disk === null)(
  'an operator can act on a disk that other programs filled to the last byte, and it is kept, though the gateway is killed',
  async () => {
    upstream.script(always(openaiChat, { text: 'This.' }));
    const gateway = await start('filled-by-others');
    for (const session_id of ['to-pause', 'to-end'])
      expect((await gateway.ingest(buildDecisionLog({ meta: { session_id } }))).status).toBe(202);
    await fillCache(gateway);

    disk.fill(0);
    expect((await gateway.ingest(buildDecisionLog())).status).toBe(503);
    for (const { method, path, body } of ACTS)
      expect((await gateway.operator(method, path, body)).status).toBeLessThan(300);
    expect(gateway.output()).toContain('"event":"store_reserve_released"');
    expect((await gateway.ingest(buildDecisionLog())).status).toBe(503);
    expect((await ask(gateway, { 'x-observatory-session': 'to-end' })).status).toBe(403);

    await gateway.kill();
    disk.clear();
    const next = await start('filled-by-others');
    expect((await ask(next, { 'x-observatory-session': 'to-end' })).status).toBe(403);
    const lines = await linesAt(next);
    expect(doneOf(lines)).toEqual(linesOf(ACTS));
    expectWhole(next, lines.length);
    expect(await next.stop()).toBe(0);
  },
);

test.skipIf(disk === null).each(['is ended', 'is killed'])(
  'a gateway that %s on such a disk starts again: agents call, and an operator can stop them',
  async (fate) => {
    upstream.script(always(openaiChat, { text: 'This.' }));
    const folder = `filled-${fate.replace(' ', '-')}`;
    const gateway = await start(folder);
    expect((await ask(gateway)).status).toBe(200);
    disk.fill(0);
    if (fate === 'is killed') await gateway.kill();
    else await gateway.stop();
    disk.fill(0);

    const next = await start(folder);
    expect(next.output()).toContain('"event":"store_reserve_released"');
    expect((await ask(next)).status).toBe(200);
    expect((await next.ingest(buildDecisionLog())).status).toBe(503);
    for (const { method, path, body } of [STOP, ...STEPLESS])
      expect((await next.operator(method, path, body)).status).toBeLessThan(300);
    await next.kill();
    disk.clear();
    const last = await start(folder);
    expect(await STOP.effect(last)).toBe(false);
    expectWhole(last, (await linesAt(last)).length);
    expect(await last.stop()).toBe(0);
  },
);

test.skipIf(disk === null)(
  'an operator can act while the disk has a little room, though no step is taken any more, and stays the only one who can',
  async () => {
    upstream.script(always(openaiChat, { text: 'This.' }));
    const gateway = await start('nearly-full');
    const post = async (session_id: string) =>
      (await gateway.ingest(buildDecisionLog({ meta: { session_id } }))).status;
    for (const session of ['to-pause', 'to-end']) expect(await post(session)).toBe(202);
    await gateway.operator('PATCH', '/v1/agents/somebody/policy', { requests_per_minute: 7 });
    await fillCache(gateway);
    const before = (await linesAt(gateway)).length;

    disk.fill(16 * 1024 * 1024);
    expect(await post('to-pause')).toBe(503);
    for (const { method, path, body } of ACTS)
      expect((await gateway.operator(method, path, body)).status).toBeLessThan(300);
    expect(await post('to-pause')).toBe(503);
    expect((await ask(gateway, { 'x-observatory-session': 'to-end' })).status).toBe(403);
    const lines = await linesAt(gateway);
    expect(doneOf(lines.slice(0, -before))).toEqual(linesOf(ACTS));
    expectWhole(gateway, lines.length);
    disk.clear();
    await expect.poll(() => post('later'), SOON).toBe(202);
    expect(await gateway.stop()).toBe(0);
  },
);

test.skipIf(disk === null)(
  'an agent that an operator stops on a full disk is stopped at once, and has its line in the audit as soon as there is room',
  async () => {
    upstream.script(always(openaiChat, { text: 'This.' }));
    const gateway = await start('stopped');
    expect((await ask(gateway)).status).toBe(200);
    await fillToTheLastByte(gateway);
    const stop = () => gateway.operator('POST', '/v1/agents/asker/deactivate', { reason: 'Enough.' });
    const inForce = { reason: 'store_full', detail: expect.stringContaining('The stop is in force') };
    for (let time = 1; time <= 2; time += 1) {
      expect(await stop()).toMatchObject({ status: 503, body: inForce });
      expect((await ask(gateway)).status).toBe(403);
    }
    const actions = async () => (await linesAt(gateway)).map(({ action }) => action);
    expect(await actions()).toEqual(['agent.policy']);
    disk.clear();
    await expect
      .poll(async () => (await stop()).body, SOON)
      .toEqual({ status: 'ok', note: 'already_inactive' });
    expect(await actions()).toEqual(['agent.deactivate', 'agent.policy']);
    expectWhole(gateway, 2);
    expect(await gateway.stop()).toBe(0);
  },
);

test.skipIf(disk === null)(
  'a revocation on a full disk is in force at once, and has its line in the audit as soon as there is room',
  async () => {
    const gateway = await start('revoked');
    const { key, secret } = (await gateway.operator('POST', '/v1/agent-keys', { name: 'To revoke' })).body;
    const statusUnderIt = async () =>
      (await gateway.ingest(buildDecisionLog(), { authorization: `Bearer ${secret}` })).status;
    expect(await statusUnderIt()).toBe(202);
    await fillToTheLastByte(gateway);
    const detail = expect.stringContaining('The revocation is in force');
    const inForce = { status: 503, body: { reason: 'store_full', detail } };
    expect(await gateway.operator('DELETE', `/v1/agent-keys/${key.key_id}`)).toMatchObject(inForce);
    expect(await statusUnderIt()).toBe(401);
    const actions = async () => (await linesAt(gateway)).map(({ action }) => action);
    expect(await actions()).toEqual(['agent.policy', 'agent_key.create']);
    disk.clear();
    await expect.poll(actions, SOON).toEqual(['agent_key.revoke', 'agent.policy', 'agent_key.create']);
    expectWhole(gateway, 3);
    expect(await gateway.stop()).toBe(0);
  },
);
