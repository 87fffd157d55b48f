/** What the caps of a session know after a restart, and of a session that is under way when they are set. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteProxyStore, SqliteStore } from '#adapters/sqlite';
import { type CallRow, type LlmCall, sessionKey } from '#contracts';
import { defaultPolicy, SESSION_IDLE_MS, SessionCaps } from '#domain/policy';
import { HOUR_MS, MINUTE_MS } from '#kernel';
import { buildCallRow, FakeClock, turn } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { EarlierUse } from './earlier-use.js';

const SESSION = sessionKey('default', 'session-1');
const CAPPED = { ...defaultPolicy('agent-1'), session_calls_max: 3 };
const BEGAN_MS = Date.UTC(2026, 0, 31, 12);
const ALL_STORED = { flush: async () => {} };

let folder: string;
let clock: FakeClock;
let store: SqliteStore;
let calls: SqliteProxyStore;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new FakeClock(BEGAN_MS);
  store = new SqliteStore({ path: join(folder, 'o.db'), clock, workerUrl: null, durability: 'process' });
  await store.open();
  calls = new SqliteProxyStore(store.database);
});
afterEach(() => store.close());

const called = (agoMs: number, call: Partial<LlmCall> = {}, tenantId = 'default') =>
  buildCallRow({ started_at_ms: BEGAN_MS - agoMs, ...call }, tenantId);
const REFUSED: Partial<LlmCall> = { decision: 'session_capped', status: 429, usage: null, cost_usd: 0 };

/** The caps of a gateway that starts now, once the session has called. */
async function capsAfterStart(): Promise<SessionCaps> {
  const caps = new SessionCaps({ clock });
  const earlier = new EarlierUse({ store: calls, log: ALL_STORED, caps, clock });
  expect(earlier.mayHave(SESSION, CAPPED)).toBe(true);
  await earlier.restore(SESSION);
  return caps;
}

test('a session has used after a restart what it had before', async () => {
  await calls.appendCalls([
    called(9 * MINUTE_MS),
    called(8 * MINUTE_MS, { decision: 'cached', cost_usd: 0 }),
    called(7 * MINUTE_MS, { decision: 'upstream_failed', status: 502, usage: null, cost_usd: 0 }),
    called(6 * MINUTE_MS, { decision: 'aborted', status: 499, usage: null, cost_usd: 0.002 }),
    called(5 * MINUTE_MS, { decision: 'forwarded', status: 429, usage: null, cost_usd: 0 }),
    called(4 * MINUTE_MS, REFUSED),
    called(3 * MINUTE_MS, { session_id: 'session-2' }),
    called(2 * MINUTE_MS, {}, 'other'),
  ]);
  const caps = await capsAfterStart();
  expect(caps.look(SESSION)).toMatchObject({
    callCount: 3,
    costMicroUsd: 3_000,
    firstCallMs: BEGAN_MS - 9 * MINUTE_MS,
  });
  expect(caps.decide(SESSION, CAPPED, 0)).toEqual({ allowed: false, cap: 'session_calls_max' });
});

test('a session that asked on and on after it was capped is capped', async () => {
  await calls.appendCalls([called(HOUR_MS), called(HOUR_MS), called(HOUR_MS)]);
  for (let batch = 0; batch < 30; batch += 1)
    await calls.appendCalls(Array.from({ length: 1_000 }, () => called(MINUTE_MS, REFUSED)));
  const caps = await capsAfterStart();
  expect(caps.decide(SESSION, CAPPED, 0)).toEqual({ allowed: false, cap: 'session_calls_max' });
});

test('what came before a session was idle for so long that its caps began anew does not count', async () => {
  const idle = SESSION_IDLE_MS + HOUR_MS;
  await calls.appendCalls([
    called(20 * HOUR_MS + idle),
    called(20 * HOUR_MS),
    called(20 * HOUR_MS),
    called(HOUR_MS),
  ]);
  expect((await capsAfterStart()).look(SESSION)).toMatchObject({
    callCount: 3,
    firstCallMs: BEGAN_MS - 20 * HOUR_MS,
  });
});

test('a session that goes on for days counts from its first call', async () => {
  await calls.appendCalls([70, 50, 30, 10].map((hours) => called(hours * HOUR_MS)));
  expect((await capsAfterStart()).look(SESSION)).toMatchObject({
    callCount: 4,
    firstCallMs: BEGAN_MS - 70 * HOUR_MS,
  });
});

test('what a clock that was ahead has stamped counts where it was set back before the start', async () => {
  await calls.appendCalls([called(-40 * 24 * HOUR_MS), called(-2 * HOUR_MS), called(HOUR_MS)]);
  expect((await capsAfterStart()).look(SESSION)).toMatchObject({
    callCount: 3,
    firstCallMs: BEGAN_MS - HOUR_MS,
  });
});

test('a session that is under way when its caps are set has used what it had before, to the call that ended last', async () => {
  const caps = new SessionCaps({ clock });
  const ended = [called(-3 * HOUR_MS), called(-4 * HOUR_MS), called(-5 * HOUR_MS)];
  const log = { flush: async () => void (await calls.appendCalls(ended)) };
  const earlier = new EarlierUse({ store: calls, log, caps, clock });
  clock.advance(SESSION_IDLE_MS);
  expect(earlier.mayHave(SESSION, CAPPED)).toBe(false);
  expect(earlier.mayHave(SESSION, { ...CAPPED, updated_at_ms: clock.nowMs() })).toBe(true);
  await earlier.restore(SESSION);
  expect(caps.look(SESSION)).toMatchObject({ callCount: 3, firstCallMs: BEGAN_MS + 3 * HOUR_MS });
});

test.each(['are flushed', 'are read'])(
  'a call that no cap has counted and that ends while the earlier ones %s is one of them',
  async (when) => {
    const caps = new SessionCaps({ clock });
    const waiting = [called(2 * MINUTE_MS)];
    const flush = async () => void (await calls.appendCalls(waiting.splice(0)));
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      waiting.push(called(MINUTE_MS));
      earlier.noteUncounted(sessionKey('default', 'session-2'));
      earlier.noteUncounted(SESSION);
    };
    const earlier = new EarlierUse({
      store: {
        calls: async (query) => {
          const page = await calls.calls(query);
          if (when === 'are read') end();
          return page;
        },
      },
      log: {
        flush: async () => {
          await flush();
          if (when === 'are flushed') end();
        },
      },
      caps,
      clock,
    });
    await earlier.restore(SESSION);
    expect(caps.look(SESSION)).toMatchObject({ callCount: 2 });
  },
);

test('a call that no cap has counted is counted once, at whatever moment behind the reading it ends', async () => {
  const counts: (number | undefined)[] = [];
  for (let moment = 0; moment < 20; moment += 1) {
    const caps = new SessionCaps({ clock });
    const stored = [called(2 * MINUTE_MS)];
    const waiting: CallRow[] = [];
    let isBegun = false;
    const end = () => {
      // As the policy step does it.
      if (caps.look(SESSION) !== null) return caps.record(SESSION, 0);
      waiting.push(called(MINUTE_MS));
      earlier.noteUncounted(SESSION);
    };
    const earlier = new EarlierUse({
      store: {
        calls: async ({ to_ms }) => {
          if (to_ms === undefined) return { items: stored.map(({ call }) => call), next_cursor: null };
          // It reads no further back.
          if (!isBegun) afterMicrotasks(moment, end);
          isBegun = true;
          return { items: [], next_cursor: null };
        },
      },
      log: { flush: async () => void stored.push(...waiting.splice(0)) },
      caps,
      clock,
    });
    await earlier.restore(SESSION);
    await turn();
    counts.push(caps.look(SESSION)?.callCount);
  }
  expect(counts).toEqual(counts.map(() => 2));
});

function afterMicrotasks(count: number, act: () => void): void {
  if (count === 0) act();
  else queueMicrotask(() => afterMicrotasks(count - 1, act));
}

test('nothing is read for a session without caps, one that is known, or once all that came before is forgotten', () => {
  const caps = new SessionCaps({ clock });
  const earlier = new EarlierUse({ store: calls, log: ALL_STORED, caps, clock });
  expect(earlier.mayHave(SESSION, defaultPolicy('agent-1'))).toBe(false);
  clock.advance(SESSION_IDLE_MS - 1);
  expect(earlier.mayHave(SESSION, CAPPED)).toBe(true);
  caps.record(SESSION, 0);
  expect(earlier.mayHave(SESSION, CAPPED)).toBe(false);
  clock.advance(1);
  expect(earlier.mayHave(sessionKey('default', 'session-2'), CAPPED)).toBe(false);
});
