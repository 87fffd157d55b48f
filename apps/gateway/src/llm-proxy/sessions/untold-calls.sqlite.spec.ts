/** What the rows say after a crash of calls whose step went with the process, on the real store. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteProxyStore, SqliteStore } from '#adapters/sqlite';
import { type LlmCall, PROXY_SOURCE, type SessionView, sessionKey } from '#contracts';
import { initialControl } from '#domain/decision-log';
import { MINUTE_MS } from '#kernel';
import { buildCallRow, buildDecisionLog, buildStepRow, buildUsage, FakeClock } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { SessionRegistry } from '../../decision-log/session-registry.js';
import { tellUntoldCalls } from './untold-calls.js';

const DIED_MS = Date.UTC(2026, 0, 31, 12);
const TOKENS = 30;
const SESSION_COUNT_MAX = 10;
const usage = buildUsage({ input_tokens: 20, output_tokens: 10 });

let folder: string;
let store: SqliteStore;
let calls: SqliteProxyStore;
let heldCount: number;

beforeEach(async () => {
  heldCount = 0;
  folder = temporaryFolder();
  store = new SqliteStore({ path: join(folder, 'o.db'), clock: new FakeClock(DIED_MS), workerUrl: null });
  await store.open();
  calls = new SqliteProxyStore(store.database);
});
afterEach(() => store.close());

/** Two minutes before the process died, unless told. */
const called = (call: Partial<LlmCall> = {}, tenantId = 'default') =>
  buildCallRow(
    { started_at_ms: DIED_MS - 2 * MINUTE_MS, usage, cost_usd: 0.001, session_id: 's', ...call },
    tenantId,
  );

/** A step that was stored, as a call makes one, or its agent itself. */
const stepped = (trace_id: string, cumulative_session_cost: number, source_app: string = PROXY_SOURCE) => {
  const log = buildDecisionLog({
    meta: { trace_id, session_id: 's', source_app },
    state_delta: { cumulative_session_cost, tokens_consumed: TOKENS },
  });
  return buildStepRow({ session_id: 's', trace_id, body: JSON.stringify(log) });
};

/** As a process that starts finds it, some time later. */
async function recovered(): Promise<SessionRegistry> {
  const registry = new SessionRegistry({
    clock: new FakeClock(DIED_MS + MINUTE_MS),
    store,
    live: { publish: () => {}, isWatched: () => true },
    sessionCountMax: SESSION_COUNT_MAX,
    controlOf: () => ({ ...initialControl(), held_count: heldCount }),
    heldKeys: () => [],
    onStoreFailed: (error) => expect.unreachable(String(error)),
  });
  await registry.recover();
  await tellUntoldCalls({ store: calls, sessions: registry, clock: new FakeClock(DIED_MS + MINUTE_MS) });
  await registry.save();
  return registry;
}

/** @returns what its row says that it took; undefined: it has none */
async function rowOf(sessionId = 's', tenantId = 'default') {
  const view = (await recovered()).peek(sessionKey(tenantId, sessionId));
  return view && took(view);
}
const took = ({ cost_usd, tokens, step_count }: SessionView) => ({ cost_usd, tokens, step_count });

test('a session whose first step was lost is there, with what its calls took, however often the process starts', async () => {
  await calls.appendCalls([called(), called({ cost_usd: 0.002 }), called({ session_id: 'other' }, 'else')]);
  for (let start = 0; start < 3; start += 1) {
    expect(await rowOf()).toEqual({ cost_usd: 0.003, tokens: 2 * TOKENS, step_count: 0 });
    expect(await rowOf('other', 'else')).toEqual({ cost_usd: 0.001, tokens: TOKENS, step_count: 0 });
    expect(await rowOf('other')).toBeUndefined();
  }
});

test('the cost of a session that is known by its calls alone is known where each of theirs is', async () => {
  await calls.appendCalls([
    called(),
    called({ session_id: 'partly' }),
    called({ session_id: 'partly', cost_usd: null }),
  ]);
  const registry = await recovered();
  const isUnknown = (sessionId: string) => registry.peek(sessionKey('default', sessionId))?.cost_unknown;
  expect(isUnknown('s')).toBe(false);
  expect(isUnknown('partly')).toBe(true);
});

test('calls that belong to no session, or took nothing, make none', async () => {
  await calls.appendCalls([
    called({ session_id: '' }),
    called({ session_id: 'failed', usage: null, cost_usd: 0, status: 500 }),
  ]);
  expect([...(await recovered()).entries()]).toEqual([]);
});

test('a session whose latest step was lost took what all of its calls did', async () => {
  await calls.appendCalls([
    called({ call_id: 'told', started_at_ms: DIED_MS - 90 * MINUTE_MS }),
    called({ call_id: 'lost', cost_usd: 0.002 }),
    called({ decision: 'terminated', status: 403, usage: null, cost_usd: 0 }),
  ]);
  await store.appendSteps([stepped('told', 0.001)]);
  for (let start = 0; start < 3; start += 1)
    expect(await rowOf()).toEqual({ cost_usd: 0.003, tokens: 2 * TOKENS, step_count: 1 });
});

test('a session whose latest call has its step, and that called before its row was saved last, is left alone', async () => {
  const before = { call_id: 'other', cost_usd: 5, started_at_ms: DIED_MS - 3 * MINUTE_MS };
  await calls.appendCalls([called(before), called({ call_id: 'told' })]);
  await store.appendSteps([stepped('told', 0.001)]);
  expect(await rowOf()).toEqual({ cost_usd: 0.001, tokens: TOKENS, step_count: 1 });
});

test('a session whose row died unsaved with what a call without a step took is told of it, though its latest step is there', async () => {
  const embedded = { path: '/embeddings', dialect: null, cost_usd: null };
  await calls.appendCalls([
    called({ call_id: 'embedded', started_at_ms: DIED_MS - 3_000, ...embedded }),
    called({ call_id: 'told', started_at_ms: DIED_MS - 2_000 }),
  ]);
  await store.appendSteps([stepped('told', 0.001)]);
  for (let start = 0; start < 3; start += 1) {
    const view = (await recovered()).peek(sessionKey('default', 's'));
    expect(view).toMatchObject({ cost_usd: 0.001, cost_unknown: true, tokens: 2 * TOKENS, step_count: 1 });
  }
});

test('a session that holds steps is told by them', async () => {
  heldCount = 1;
  await calls.appendCalls([called({ call_id: 'told' }), called({ call_id: 'held' })]);
  await store.appendSteps([stepped('told', 0.001)]);
  expect(await rowOf()).toEqual({ cost_usd: 0.001, tokens: TOKENS, step_count: 1 });
});

test('the calls of an agent that reports its steps itself are not told, in whatever session they are', async () => {
  await calls.appendCalls([called({ cost_usd: 5 }), called({ session_id: 'unnamed', cost_usd: 5 })]);
  await store.appendSteps([stepped('its own', 0.001, 'crew')]);
  expect(await rowOf()).toEqual({ cost_usd: 0.001, tokens: TOKENS, step_count: 1 });
  expect(await rowOf('unnamed')).toBeUndefined();
});

test('a session that was quiet long before the process died is not looked at', async () => {
  await calls.appendCalls([
    called({ session_id: 'long ago', started_at_ms: DIED_MS - 60 * MINUTE_MS }),
    called(),
  ]);
  expect(await rowOf('long ago')).toBeUndefined();
});

test('the calls of a tenant that was quiet long before the process died are not read: a start would take as long as there are tenants', async () => {
  const asked: string[] = [];
  const read = calls.calls.bind(calls);
  calls.calls = (filter) => {
    asked.push(filter.tenant_id);
    return read(filter);
  };
  await calls.appendCalls([called()]);
  await calls.appendCalls([called({ started_at_ms: DIED_MS - 300 * MINUTE_MS }, 'quiet')]);
  await recovered();
  expect(new Set(asked)).toEqual(new Set(['default']));
});

test('the calls of many sessions are read together: a start would read the same blocks for each of them', async () => {
  let readCount = 0;
  const read = calls.calls.bind(calls);
  calls.calls = (filter) => {
    readCount += 1;
    return read(filter);
  };
  const sessionIds = Array.from({ length: SESSION_COUNT_MAX }, (_, index) => `s-${index}`);
  await calls.appendCalls([...sessionIds, ...sessionIds].map((session_id) => called({ session_id })));
  const registry = await recovered();
  for (const sessionId of sessionIds)
    expect(registry.peek(sessionKey('default', sessionId))).toMatchObject({ cost_usd: 0.002, tokens: 60 });
  expect(readCount).toBe(2);
});

test('a cost that nobody knows stays unknown', async () => {
  await calls.appendCalls([called({ call_id: 'told' }), called({ cost_usd: null })]);
  await store.appendSteps([stepped('told', 0.001)]);
  const view = (await recovered()).peek(sessionKey('default', 's'));
  expect(view).toMatchObject({ cost_usd: 0.001, cost_unknown: true, tokens: 2 * TOKENS });
});
