/** What the rows say after a crash, on the real store: the folds that are saved and those that are made again. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SqliteStore } from '#adapters/sqlite';
import { PROXY_SOURCE, sessionKey } from '#contracts';
import { initialControl } from '#domain/decision-log';
import { buildDecisionLog, buildStepRow, FakeClock } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { fallsSilent } from './falls-silent.js';
import { SessionRegistry } from './session-registry.js';

const HELD = { tenant_id: 'default', session_id: 'held' };
let folder: string;
let store: SqliteStore;

beforeEach(async () => {
  folder = temporaryFolder();
  store = new SqliteStore({ path: join(folder, 'o.db'), clock: new FakeClock(), workerUrl: null });
  await store.open();
});

afterEach(() => store.close());

/** As a process that starts finds it. */
async function recovered(): Promise<SessionRegistry> {
  const registry = new SessionRegistry({
    clock: new FakeClock(),
    store,
    live: { publish: () => {}, isWatched: () => true },
    sessionCountMax: 10,
    controlOf: initialControl,
    heldKeys: () => [],
    onStoreFailed: (error) => expect.unreachable(String(error)),
  });
  await registry.recover();
  return registry;
}

const countOf = (registry: SessionRegistry) =>
  registry.peek(sessionKey(HELD.tenant_id, HELD.session_id))?.step_count;

async function append(sessionId: string, held: 0 | 1, count = 1): Promise<void> {
  await store.appendSteps(Array.from({ length: count }, () => buildStepRow({ session_id: sessionId, held })));
}

it('counts what was released behind the checkpoint before a crash, once, however often it crashes', async () => {
  await append('held', 0);
  await append('held', 1, 3);
  await append('other', 0);
  await (await recovered()).save();
  await store.commitControl({ release: HELD });
  const after = await recovered();
  expect(countOf(after)).toBe(4);
  expect(countOf(await recovered())).toBe(4);
  await after.save();
  expect(countOf(await recovered())).toBe(4);
});

it('counts what was released before the checkpoint went past it once', async () => {
  await append('held', 1, 3);
  await store.commitControl({ release: HELD });
  const before = await recovered();
  expect(countOf(before)).toBe(3);
  await before.save();
  expect(countOf(await recovered())).toBe(3);
});

it('counts a release while a save was on its way, which has nothing of it', async () => {
  await append('held', 1, 2);
  const before = await recovered();
  await append('other', 0);
  const [other] = await store.stepsAfter(2, 1);
  before.apply(sessionKey('default', 'other'), other as NonNullable<typeof other>, []);
  const released = store.commitControl({ release: HELD });
  const saved = before.save();
  const commit = await released;
  for (const step of commit.released) {
    before.apply(sessionKey('default', 'held'), step, []);
    before.noteReleased(step);
  }
  await saved;
  expect(countOf(await recovered())).toBe(2);
  await before.save();
  expect(countOf(await recovered())).toBe(2);
});

it('says of a session that has begun what its first step waits for, once that is known, and nothing of it behind a step', async () => {
  const key = sessionKey('default', 'begun');
  const sessions = await recovered();
  const log = (tool_call: string | null, cumulative_session_cost: number | undefined) =>
    buildDecisionLog({
      meta: { source_app: PROXY_SOURCE },
      cognition: { intent: 'Migrate' },
      action: { tool_call, status: 'pending' },
      state_delta: { cumulative_session_cost },
    });
  await sessions.introduceWaiting(key, log(null, 0));
  const begun = { step_count: 0, last_intent: 'Migrate', last_tool: '', cost_usd: 0, cost_unknown: false };
  expect(sessions.peek(key)).toMatchObject(begun);
  await sessions.save();
  await sessions.introduceWaiting(key, log('run_migration', 0.5));
  const waits = { ...begun, last_tool: 'run_migration', cost_usd: 0.5 };
  expect(sessions.peek(key)).toMatchObject(waits);
  await sessions.save();
  expect((await store.sessions({ tenant_id: 'default', limit: 1 })).items).toMatchObject([waits]);
  await sessions.introduceWaiting(key, log('run_migration', undefined));
  expect(sessions.peek(key)).toMatchObject({ ...waits, cost_unknown: true });
  const { body: _, ...row } = buildStepRow({ session_id: 'begun' });
  sessions.apply(
    key,
    { ...row, seq: 1, held: false, rewritten_by: null, log: log('look', 0.5), body_chars: 1 },
    [],
  );
  await sessions.introduceWaiting(key, log('run_migration', 0.75));
  expect(sessions.peek(key)).toMatchObject({ step_count: 1, last_tool: 'look', cost_usd: 0.5 });
});

it('says of a session no more that its first step waits for a tool once the process that waited has died', async () => {
  const key = sessionKey('default', 'migration');
  const before = await recovered();
  const log = buildDecisionLog({ cognition: { intent: 'Migrate' }, action: { tool_call: 'run_migration' } });
  await before.introduceWaiting(key, log);
  await before.save();
  expect(before.peek(key)).toMatchObject({ step_count: 0, state: 'active', last_tool: 'run_migration' });

  const after = await recovered();
  const left = after.peek(key);
  expect(left).toMatchObject({ step_count: 0, state: 'active', last_intent: 'Migrate', last_tool: '' });
  if (left !== undefined) expect(fallsSilent(left, left.last_seen_ms + 60_000)).toBe(true);
  await after.save();
  expect((await store.sessions({ tenant_id: 'default', limit: 1 })).items).toMatchObject([{ last_tool: '' }]);

  await append('migration', 0);
  expect((await recovered()).peek(key)).toMatchObject({ step_count: 1 });
});

it('says of a session no more that its first call is under way once its process has died', async () => {
  const key = sessionKey('default', 'begun');
  const before = await recovered();
  await before.introduceWaiting(key, buildDecisionLog({ action: { tool_call: null, status: 'pending' } }));
  await before.save();
  expect(before.peek(key)).toMatchObject({ step_count: 0, last_status: 'pending' });
  expect((await recovered()).peek(key)).toMatchObject({ step_count: 0, last_status: 'success' });
});

it('says of a session no more that its first call is under way once that has ended, with a step or without', async () => {
  const key = sessionKey('default', 'begun');
  const log = (trace_id: string, tool_call: string | null) =>
    buildDecisionLog({ meta: { trace_id }, action: { tool_call, status: 'pending' } });
  const sessions = await recovered();
  await sessions.introduceWaiting(key, log('first', null));
  sessions.noteCall(key, 'other', null);
  expect(sessions.peek(key)).toMatchObject({ last_status: 'pending' });
  await sessions.save();
  sessions.noteCall(key, 'first', null);
  const ended = { step_count: 0, last_status: 'success' };
  expect(sessions.peek(key)).toMatchObject(ended);
  await sessions.save();
  expect((await store.sessions({ tenant_id: 'default', limit: 1 })).items).toMatchObject([ended]);
  // Its tool is at work.
  await sessions.introduceWaiting(key, log('next', 'run_migration'));
  sessions.noteCall(key, 'next', null);
  expect(sessions.peek(key)).toMatchObject({ last_status: 'pending', last_tool: 'run_migration' });
});

it('says of a session that has begun what its first step cost though that is held, and nothing else of it', async () => {
  const key = sessionKey('default', 'begun');
  const log = (action: object, state_delta: object) =>
    buildDecisionLog({
      meta: { trace_id: 'first', source_app: PROXY_SOURCE },
      cognition: { intent: 'Migrate' },
      action: { tool_call: null, ...action },
      state_delta,
    });
  const sessions = await recovered();
  await sessions.introduceWaiting(key, log({ status: 'pending' }, { cumulative_session_cost: 0 }));
  const waiting = { status: 'pending', tool_call: 'run' };
  await sessions.introduceWaiting(key, log(waiting, { cumulative_session_cost: 0.25 }));
  expect(sessions.peek(key)).toMatchObject({ last_tool: 'run', cost_usd: 0.25 });
  await sessions.save();
  const { body: _, ...row } = buildStepRow({ session_id: 'begun' });
  const held = { ...row, held: true, rewritten_by: null, body_chars: 1 };
  const answered = log({ status: 'failure', tool_call: 'run' }, { cumulative_session_cost: 0.5 });
  await sessions.introduceHeld(key, { ...held, seq: 1, log: answered });
  const shown = { step_count: 0, failure_count: 0, last_tool: '', cost_usd: 0.5, cost_unknown: false };
  expect(sessions.peek(key)).toMatchObject({ ...shown, last_intent: 'Migrate' });
  await sessions.save();
  expect((await store.sessions({ tenant_id: 'default', limit: 1 })).items).toMatchObject([shown]);
  sessions.setControl(key, { ...initialControl(), state: 'paused', held_count: 1 });
  await sessions.introduceWaiting(key, log(waiting, { cumulative_session_cost: 0.75 }));
  expect(sessions.peek(key)).toMatchObject(shown);
  await sessions.introduceHeld(key, { ...held, seq: 2, log: log({ status: 'success' }, {}) });
  expect(sessions.peek(key)).toMatchObject({ ...shown, cost_unknown: true });
  // Released, and shown.
  sessions.apply(key, { ...held, held: false, seq: 1, log: answered }, []);
  await sessions.introduceHeld(key, {
    ...held,
    seq: 3,
    log: log({ status: 'success' }, { cumulative_session_cost: 2 }),
  });
  expect(sessions.peek(key)).toMatchObject({ step_count: 1, last_tool: 'run', cost_usd: 0.5 });
});
