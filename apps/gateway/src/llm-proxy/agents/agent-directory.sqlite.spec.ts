/** What stands on disk of agents' settings, and of the kill switch's stops where it is full; and what comes of it after the next start. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteProxyStore, SqliteStore } from '#adapters/sqlite';
import { agentScope, KILL_SWITCH_ACTOR, ObservatoryError } from '#contracts';
import { buildIncident, FakeTime } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { ADMIN } from '../../auth/access.fixture.js';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { AgentDirectory } from './agent-directory.js';
import { fillDisk } from './full-disk.fixture.js';

/** Two places for a tenant's stops. */
const SETTINGS_COUNT_MAX = 4;
const PAGES = 400;
const A = agentScope('default', 'a');

let folder: string;
let time: FakeTime;
let store: SqliteStore;
let proxyStore: SqliteProxyStore;
let agents: AgentDirectory;
let unsavedCount: number;
let closed: string[];

beforeEach(async () => {
  folder = temporaryFolder();
  await start();
});
afterEach(() => store.close());

async function start(): Promise<void> {
  time = new FakeTime();
  unsavedCount = 0;
  closed = [];
  const path = join(folder, 'o.db');
  store = new SqliteStore({ path, clock: time, workerUrl: null, pageCountMax: PAGES, durability: 'process' });
  await store.open();
  proxyStore = new SqliteProxyStore(store.database);
  agents = new AgentDirectory({
    store: proxyStore,
    audit: new SettingsAudit(store, time),
    clock: time,
    timer: time,
    onPolicy: () => {},
    onClosed: (tenantId) => closed.push(tenantId),
    onUnsaved: () => {
      unsavedCount += 1;
    },
    settingsCountMax: SETTINGS_COUNT_MAX,
  });
  await agents.load();
}

async function startAgain(): Promise<void> {
  await store.close();
  await start();
}

const makeRoom = () => store.enforceRetention({ beforeMs: Number.MAX_SAFE_INTEGER, bytesMax: null });
const kill = (agent: string) =>
  agents.deactivateByKillSwitch(agentScope('default', agent), buildIncident({ agent_id: agent }));
const mayCall = (agent: string) => agents.policy(agentScope('default', agent)).active;
const audited = async () => (await store.audit({ tenant_id: 'default', limit: 9 })).items;

test('a tenant that its stops have closed is closed after a start on a full disk, too', async () => {
  for (const agent of ['a', 'b', 'c', 'd']) kill(agent);
  await expect.poll(async () => (await audited()).length).toBe(3);
  await fillDisk(store);
  await startAgain();
  expect(closed).toEqual(['default']);
  for (const agent of ['a', 'b', 'c', 'd', 'unheard of']) expect(mayCall(agent)).toBe(false);
  expect(agents.policy(agentScope('other', 'a')).active).toBe(true);
});

test('a stop that a full disk refuses is written once there is room, and holds after the next start', async () => {
  kill('before');
  await expect.poll(async () => (await audited()).length).toBe(1);
  await fillDisk(store);
  for (const agent of ['a', 'b']) kill(agent);
  await expect.poll(() => unsavedCount).toBe(2);
  expect(closed).toEqual(['default']);
  await time.pass(60_000);
  await makeRoom();
  await time.pass(60_000);
  await expect.poll(async () => (await audited()).length).toBe(3);
  await startAgain();
  expect(closed).toEqual(['default']);
  for (const agent of ['before', 'a', 'b']) expect(mayCall(agent)).toBe(false);
});

test('a stop whose evidence lies at another gateway is kept at the end, by a store that was busy for a moment', async () => {
  const { commitDocuments } = proxyStore;
  Object.assign(proxyStore, { commitDocuments: () => Promise.reject(new ObservatoryError('store_busy')) });
  kill('a');
  const stopped = agents.stop();
  await time.pass(300);
  Object.assign(proxyStore, { commitDocuments });
  await time.pass(1_000);
  await stopped;
  await startAgain();
  expect(mayCall('a')).toBe(false);
});

test('a stop by an operator is in force on a full disk, too, which they are told, and is stored once there is room', async () => {
  await fillDisk(store);
  const reason = 'it spends too much';
  const inForce: boolean[] = [];
  const stop = () => agents.deactivate(A, reason, ADMIN, () => inForce.push(mayCall('a')));
  const refused = {
    code: 'store_full',
    detail: expect.stringContaining('The stop is in force, but not stored'),
  };
  const first = stop();
  expect(inForce).toEqual([false]);
  await expect(first).rejects.toMatchObject(refused);
  // Who stops it again is not told that it is stored either.
  await expect(stop()).rejects.toMatchObject(refused);
  expect(unsavedCount).toBe(1);
  await makeRoom();
  await time.pass(1_000);
  expect(await stop()).toBe(false);
  await time.pass(60_000);
  expect(await audited()).toMatchObject([
    { action: 'agent.deactivate', operator_id: ADMIN.operator_id, detail: { reason } },
  ]);
  await startAgain();
  expect(agents.policy(A)).toMatchObject({ active: false, deactivated_reason: reason });
});

test('two stops that a full disk refuses are both in the audit, in their order, before what lets the agent in', async () => {
  await fillDisk(store);
  kill('a');
  await expect(agents.deactivate(A, 'all of it', ADMIN)).rejects.toThrow();
  await makeRoom();
  await time.pass(1_000);
  await agents.reactivate(A, ADMIN, () => {});
  await time.pass(60_000);
  const lines = (await audited()).reverse();
  expect(lines.map(({ action, operator_id }) => [action, operator_id])).toEqual([
    ['agent.deactivate', KILL_SWITCH_ACTOR],
    ['agent.deactivate', ADMIN.operator_id],
    ['agent.reactivate', ADMIN.operator_id],
  ]);
  await startAgain();
  expect(mayCall('a')).toBe(true);
});

test('a stop counts as stored once the disk has it', async () => {
  await fillDisk(store);
  expect(agents.isStored).toBe(true);
  const stopped = agents.deactivate(A, 'x'.repeat(3_000), ADMIN);
  expect(agents.isStored).toBe(false);
  await expect(stopped).rejects.toMatchObject({ code: 'store_full' });
  expect(agents.isStored).toBe(false);
  await makeRoom();
  await time.pass(60_000);
  await expect.poll(() => agents.isStored).toBe(true);
});

test('an agent that was stopped while its reactivation waits is not let in by it, though the stop is stored by then', async () => {
  await agents.deactivate(A, 'first', ADMIN);
  const seen = agents.seen(A);
  await agents.deactivate(A, 'second', ADMIN);
  expect(await agents.reactivate(A, ADMIN, () => {}, { seen })).toBe('stopped_again');
  expect(mayCall('a')).toBe(false);
  expect(await agents.reactivate(A, ADMIN, () => {})).toBe('reactivated');
});

test('a change that a full disk refuses is neither in force nor in the audit', async () => {
  const scope = agentScope('default', 'a');
  await agents.patchPolicy(scope, { requests_per_minute: 5 }, ADMIN);
  const [policy, entries] = [agents.policy(scope), await audited()];
  await fillDisk(store);
  const reason = 'x'.repeat(3_000);
  await expect(agents.patchPolicy(scope, { requests_per_minute: 6, reason }, ADMIN)).rejects.toThrow();
  await expect(agents.patchKillSwitch(scope, { preset: 'strict' }, ADMIN)).rejects.toThrow();
  expect(agents.policy(scope)).toEqual(policy);
  await makeRoom();
  expect(await audited()).toEqual(entries);
  await startAgain();
  expect(agents.policy(scope)).toEqual(policy);
});

test.each([
  ['changes its limits', () => agents.patchPolicy(A, { requests_per_minute: 5 }, ADMIN), ['agent.policy']],
  ['stops it as well', () => agents.deactivate(A, undefined, ADMIN), ['agent.deactivate']],
  ['lets it in', () => agents.reactivate(A, ADMIN, () => {}), ['agent.reactivate']],
  ['does nothing, and it is stopped once more', async () => void kill('a'), []],
] satisfies [string, () => Promise<unknown>, string[]][])(
  'a stop that a full disk refuses is in the audit before what follows it, where an operator %s',
  async (_, change, actions) => {
    await fillDisk(store);
    kill('a');
    await expect.poll(() => unsavedCount).toBe(1);
    await makeRoom();
    await time.pass(1_000);
    await change();
    await time.pass(60_000);
    await expect.poll(async () => (await audited()).length).toBe(1 + actions.length);
    const entries = (await audited()).reverse();
    expect(entries.map(({ action }) => action)).toEqual(['agent.deactivate', ...actions]);
    expect(entries[0]).toMatchObject({ operator_id: KILL_SWITCH_ACTOR });
  },
);

test('a stop of which nothing but its incident was written when the gateway died is written by the next start', async () => {
  await proxyStore.appendIncident('default', buildIncident({ agent_id: 'a', incident_id: 'inc-1' }));
  await startAgain();
  expect(mayCall('a')).toBe(false);
  await time.pass(60_000);
  await expect
    .poll(audited)
    .toMatchObject([{ action: 'agent.deactivate', detail: { incident_id: 'inc-1' } }]);
  await startAgain();
  await time.pass(60_000);
  expect(await audited()).toHaveLength(1);
});

test('a reactivation that a full disk refuses leaves the incident open', async () => {
  await agents.deactivate(A, 'stop', ADMIN);
  await proxyStore.appendIncident('default', buildIncident({ agent_id: 'a', incident_id: 'inc-1' }));
  await startAgain();
  await fillDisk(store);
  // Little is taken again, and much is not.
  await time.pass(1_000);
  await expect(agents.reactivate(A, ADMIN, () => {}, { reason: 'y'.repeat(100_000) })).rejects.toThrow();
  expect(agents.openIncidentId(A)).toBe('inc-1');
  expect(await proxyStore.openIncidents()).toHaveLength(1);
});

test('a stop that changes nothing writes nothing; one with another reason, or of more, does', async () => {
  const stop = (reason?: string) => agents.deactivate(A, reason, ADMIN);
  expect(await stop('leak')).toBe(true);
  const first = agents.policy(A);
  expect(await stop('leak')).toBe(false);
  expect(await stop()).toBe(false);
  expect(agents.policy(A)).toEqual(first);
  expect(await audited()).toHaveLength(1);
  expect(await stop('it leaks')).toBe(true);
  expect(agents.policy(A).deactivated_reason).toBe('it leaks');
  expect(await audited()).toHaveLength(2);
  await agents.reactivate(A, ADMIN, () => {});
  kill('a');
  await expect.poll(async () => (await audited()).length).toBe(4);
  await proxyStore.appendIncident('default', buildIncident({ agent_id: 'a' }));
  for (const _ of [1, 2]) await stop();
  expect(agents.wasKilledIn(A, 'other')).toBe(true);
  expect(await audited()).toHaveLength(5);
  await startAgain();
  await stop();
  expect(await audited()).toHaveLength(5);
});

test('an agent that an operator lets in while its stop waits to be written is not stopped by it', async () => {
  await fillDisk(store);
  kill('a');
  await expect.poll(() => unsavedCount).toBe(1);
  await makeRoom();
  await time.pass(1_000);
  const scope = agentScope('default', 'a');
  expect(await agents.reactivate(scope, ADMIN, () => {})).toBe('reactivated');
  await time.pass(60_000);
  expect(mayCall('a')).toBe(true);
  await startAgain();
  expect(mayCall('a')).toBe(true);
});

test('a change that names nothing to change writes nothing', async () => {
  const scope = agentScope('default', 'a');
  const [policy, killSwitch] = [agents.policy(scope), agents.killSwitch(scope)];
  for (const patch of [{}, { reason: 'because' }, { requests_per_minute: undefined }])
    expect(await agents.patchPolicy(scope, patch, ADMIN)).toEqual(policy);
  expect(await agents.patchKillSwitch(scope, {}, ADMIN)).toEqual(killSwitch);
  expect(await audited()).toEqual([]);
  await startAgain();
  expect([...agents.known('default')]).toEqual([]);
});

test('a change to what is already so writes nothing, and no more than it changes is in the audit', async () => {
  const scope = agentScope('default', 'a');
  const other = { ...ADMIN, operator_id: 'eve' };
  const policy = await agents.patchPolicy(scope, { requests_per_minute: 5, tokens_per_minute: 9 }, ADMIN);
  const killSwitch = await agents.patchKillSwitch(scope, { preset: 'strict' }, ADMIN);
  const same = { requests_per_minute: 5, budget_day_usd: null, cache: policy.cache, reason: 'because' };
  expect(await agents.patchPolicy(scope, same, other)).toEqual(policy);
  for (const patch of [{ preset: 'strict' as const }, { threshold: 5 }])
    expect(await agents.patchKillSwitch(scope, patch, other)).toEqual(killSwitch);
  expect(await audited()).toHaveLength(2);
  await agents.patchPolicy(scope, { ...same, tokens_per_minute: null }, other);
  expect((await audited())[0]).toMatchObject({
    operator_id: 'eve',
    detail: { agent_id: 'a', tokens_per_minute: null, reason: 'because' },
  });
  expect((await audited())[0]?.detail).not.toHaveProperty('requests_per_minute');
});

test('the reason of a reactivation is in the audit', async () => {
  const scope = agentScope('default', 'a');
  await agents.deactivate(scope, 'stop', ADMIN);
  await agents.reactivate(scope, ADMIN, () => {}, { reason: 'it is mended' });
  await agents.deactivate(scope, undefined, ADMIN);
  await agents.reactivate(scope, ADMIN, () => {});
  expect((await audited()).map(({ action, detail }) => [action, detail])).toEqual([
    ['agent.reactivate', { agent_id: 'a' }],
    ['agent.deactivate', { agent_id: 'a' }],
    ['agent.reactivate', { agent_id: 'a', reason: 'it is mended' }],
    ['agent.deactivate', { agent_id: 'a', reason: 'stop' }],
  ]);
  expect(await store.verifyAudit('default')).toMatchObject({ ok: true });
});
