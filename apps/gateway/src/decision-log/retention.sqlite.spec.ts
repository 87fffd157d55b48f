/** What retention leaves where somebody sets the clock. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteStore } from '#adapters/sqlite';
import { RUNTIME_CONFIG_DEFAULTS, type RuntimeConfigSource, sessionKey } from '#contracts';
import { initialControl } from '#domain/decision-log';
import { DAY_MS, HOUR_MS } from '#kernel';
import { buildSessionView, buildStepRow, FakeClock } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { BELIEVED_AFTER_MS, Retention, SET_FORWARD_MS, START_AHEAD_MS } from './retention.js';
import { SessionRegistry } from './session-registry.js';

const KEPT_MS = RUNTIME_CONFIG_DEFAULTS.retention_days * DAY_MS;
const config = { get: (key: keyof typeof RUNTIME_CONFIG_DEFAULTS) => RUNTIME_CONFIG_DEFAULTS[key] };

let folder: string;
let clock: FakeClock;
let store: SqliteStore;
let retention: Retention;
let sessions: SessionRegistry;
let warnings: string[];

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new FakeClock();
  await start();
});
afterEach(() => store.close());

async function start(): Promise<void> {
  store = new SqliteStore({ path: join(folder, 'o.db'), clock, workerUrl: null, durability: 'process' });
  await store.open();
  warnings = [];
  const events = {
    storeFailed: (_what: string, error: unknown) => {
      throw error;
    },
    warn: (message: string) => void warnings.push(message),
  };
  sessions = new SessionRegistry({
    clock,
    store,
    live: { publish: () => {}, isWatched: () => false },
    sessionCountMax: 10,
    controlOf: () => initialControl(),
    heldKeys: () => [],
    onStoreFailed: (error) => events.storeFailed('sessions', error),
  });
  await sessions.recover();
  retention = new Retention(clock, config as RuntimeConfigSource, store, events, sessions);
}

const receive = (trace_id: string) =>
  store.appendSteps([buildStepRow({ trace_id, received_at_ms: clock.nowMs() })]);
const left = async () => (await store.stepsAfter(0, 100)).map(({ trace_id }) => trace_id);

/** Runs as the timer would, but once an hour; once a day where days pass. */
async function pass(ms: number): Promise<void> {
  const stepMs = ms > DAY_MS ? DAY_MS : HOUR_MS;
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed));
    await retention.enforce();
  }
}

test('a clock that is set forward by a year and back again costs nothing', async () => {
  await receive('before');
  await pass(HOUR_MS);
  const rightMs = clock.nowMs();
  clock.set(rightMs + 365 * DAY_MS);
  await retention.enforce();
  await pass(BELIEVED_AFTER_MS - HOUR_MS);
  expect(warnings).toEqual([expect.stringContaining('the clock is 8760.0 h ahead')]);
  clock.set(rightMs + BELIEVED_AFTER_MS);
  await pass(2 * HOUR_MS);
  await receive('after');
  expect(await left()).toEqual(['before', 'after']);
  expect(warnings).toHaveLength(1);
});

test('a clock that stays set forward is believed in the end', async () => {
  await receive('before');
  clock.advance(SET_FORWARD_MS);
  clock.set(clock.nowMs() + KEPT_MS + DAY_MS);
  await retention.enforce();
  expect(await left()).toEqual(['before']);
  await pass(BELIEVED_AFTER_MS);
  expect(await left()).toEqual([]);
});

test('while it is doubted, what is old by the time before goes as ever', async () => {
  await receive('old');
  await pass(KEPT_MS - HOUR_MS);
  await receive('young');
  clock.set(clock.nowMs() + 365 * DAY_MS);
  await pass(2 * HOUR_MS);
  expect(await left()).toEqual(['young']);
});

test('a clock that is set back is believed at once', async () => {
  await receive('before');
  clock.set(clock.nowMs() - 365 * DAY_MS);
  await receive('behind');
  await pass(KEPT_MS + DAY_MS);
  // Stamped earlier, but behind what is young: it waits for that.
  expect(await left()).toEqual(['before', 'behind']);
});

/** The next process, at whose start the clock is so far ahead of what is stored last. */
async function startAgain(aheadMs: number): Promise<void> {
  const newestMs = clock.nowMs();
  clock.set(newestMs + aheadMs);
  await store.close();
  await start();
  retention.start(newestMs);
  retention.stop();
  await retention.enforce();
}

test('a start on a clock that is far ahead deletes nothing by it, until it has stood', async () => {
  await receive('before');
  await startAgain(365 * DAY_MS);
  expect(await left()).toEqual(['before']);
  expect(warnings).toEqual([expect.stringContaining('the clock is 8760.0 h ahead')]);
  await pass(BELIEVED_AFTER_MS);
  expect(await left()).toEqual([]);
  expect(warnings).toHaveLength(1);
});

test('a start within a day of what is stored last goes by its clock', async () => {
  await receive('old');
  await pass(KEPT_MS);
  await receive('young');
  await startAgain(START_AHEAD_MS);
  expect(await left()).toEqual(['young']);
  expect(warnings).toEqual([]);
});

test('a run that the end of the process cuts short is no failure, and the next start goes on with it', async () => {
  await store.appendSteps(
    Array.from({ length: 1_000 }, (_, index) =>
      buildStepRow({ trace_id: `old-${index}`, received_at_ms: 1 }),
    ),
  );
  const run = retention.enforce();
  await store.close();
  await run;
  await start();
  expect(await left()).not.toEqual([]);
  await retention.enforce();
  expect(await left()).toEqual([]);
});

/** Of both lists. */
async function listed() {
  const { items } = await store.sessions({ tenant_id: 'default', limit: 10 });
  const names = (views: { session_id: string }[]) => views.map(({ session_id }) => session_id).sort();
  return { stored: names(items), live: names(sessions.snapshot('default')) };
}

test('a session that is emptied leaves the live list with the stored one; not so one for which something came meanwhile', async () => {
  const names = ['gone', 'again'];
  const view = (session_id: string) => buildSessionView({ session_id, last_seen_ms: clock.nowMs() });
  await store.saveSessions(
    names.map((name) => ({ tenant_id: 'default', view: view(name) })),
    0,
  );
  await store.saveSessions([{ tenant_id: 'other', view: view('gone') }], 0);
  await sessions.recover();
  await sessions.save();
  clock.advance(KEPT_MS + HOUR_MS);
  await store.saveSessions([{ tenant_id: 'other', view: view('gone') }], 0);
  const run = retention.enforce();
  sessions.noteCall(sessionKey('default', 'again'), 'c-1', { decision: 'inactive', at_ms: clock.nowMs() });
  await run;
  await sessions.save();
  expect(await listed()).toEqual({ stored: ['again'], live: ['again'] });
  expect(sessions.peek(sessionKey('other', 'gone'))).toBeDefined();
});
