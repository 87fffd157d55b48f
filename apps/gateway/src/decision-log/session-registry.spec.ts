import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type ControlState,
  type ControlView,
  type EntropyAlertEvent,
  ObservatoryError,
  PROXY_SOURCE,
  type SessionKey,
  type SessionView,
  type StoredStep,
  sessionKey,
  sessionTopic,
  TOPICS,
} from '#contracts';
import { applyStep, initialControl } from '#domain/decision-log';
import { DAY_MS, type Deferred, deferred } from '#kernel';
import { buildDecisionLog, buildStepRow, FakeClock } from '#testing';
import { FEED_INTERVAL_MS } from '../realtime/live-hub.js';
import { AlertBoard } from './alert-board.js';
import { IDLE_PER_FRAME_MAX, SessionRegistry } from './session-registry.js';

const TENANT = 'default';
const SESSION_COUNT_MAX = 2;

const keyOf = (sessionId: string) => sessionKey(TENANT, sessionId);

/** A registry for two sessions, on a store that keeps rows and counts what it is asked. */
/** Read at once of what was stored later. */
const PIECE_STEPS = 2;
/** Of the saved rows. */
const CHECKPOINT_SEQ = 1_000;

function build({
  sessionCountMax = SESSION_COUNT_MAX,
  live = { publish: () => {}, isWatched: (_tenantId: string): boolean => true },
  state = 'pause_requested' as ControlState,
  clock = new FakeClock(),
} = {}) {
  const rows = new Map<SessionKey, SessionView>();
  const asked: string[] = [];
  const failures: unknown[] = [];
  const failing: { error: unknown } = { error: null };
  /** Each save is through, or fails, when the next of these does; at once if there is none. */
  const saves: Deferred[] = [];
  /** The same of each look at a row. */
  const reads: Deferred[] = [];
  /** Of each save. */
  const checkpoints: number[] = [];
  /** Sessions whose control holds their messages. */
  const held: SessionKey[] = [];
  /** Stored after the rows were saved. */
  const later: StoredStep[] = [];
  const store = {
    recentSessions: async (limit: number) => ({
      checkpointSeq: CHECKPOINT_SEQ,
      rows: [...rows.values()].slice(-limit).map((view) => ({ tenant_id: TENANT, view: { ...view } })),
    }),
    stepsAfter: async (seq: number) => later.filter((step) => step.seq > seq).slice(0, PIECE_STEPS),
    unfoldedReleases: async () => [],
    session: async (tenantId: string, sessionId: string) => {
      asked.push(sessionId);
      if (failing.error !== null) throw failing.error;
      const row = rows.get(sessionKey(tenantId, sessionId));
      const seen = row === undefined ? null : { ...row };
      await reads.shift()?.promise;
      return seen;
    },
    saveSessions: async (saved: { tenant_id: string; view: SessionView }[], checkpointSeq: number) => {
      checkpoints.push(checkpointSeq);
      const copies = saved.map(({ tenant_id, view }) => ({ tenant_id, view: { ...view } }));
      await saves.shift()?.promise;
      for (const { tenant_id, view } of copies) rows.set(sessionKey(tenant_id, view.session_id), view);
    },
  };
  const registry = () =>
    new SessionRegistry({
      clock,
      store: store as never,
      live,
      sessionCountMax,
      controlOf: () => ({ ...initialControl(), state }),
      heldKeys: () => held,
      onStoreFailed: (error) => failures.push(error),
    });
  return { registry, rows, held, asked, failures, failing, saves, reads, checkpoints, later };
}

function step(sessionId: string, held = false): StoredStep {
  const { body, ...row } = buildStepRow({ session_id: sessionId });
  const log = buildDecisionLog({ meta: { trace_id: row.trace_id, session_id: sessionId } });
  return { ...row, seq: 1, held, rewritten_by: null, log, body_chars: body.length };
}

describe('a session that holds a step', () => {
  let gateway: ReturnType<typeof build>;
  let registry: SessionRegistry;
  const publish = (...sessionIds: string[]) => {
    for (const sessionId of sessionIds) registry.apply(keyOf(sessionId), step(sessionId), []);
  };
  const hold = (sessionId: string) => registry.introduceHeld(keyOf(sessionId), step(sessionId, true));

  beforeEach(() => {
    gateway = build();
    registry = gateway.registry();
  });

  test('has a row that shows nothing of the step', async () => {
    await hold('new');
    expect(registry.peek(keyOf('new'))).toMatchObject({
      session_id: 'new',
      last_intent: '',
      step_count: 0,
      steps_per_minute: 0,
      control: { state: 'pause_requested' },
    });
  });

  test('that two want back at once keeps the step that came before the later one', async () => {
    publish('a', 'b', 'c');
    await registry.save();
    const late = deferred();
    gateway.reads.push(late);
    const slow = registry.bringBack(keyOf('a'));
    await registry.bringBack(keyOf('a'));
    publish('a');
    late.resolve();
    await slow;
    expect(registry.peek(keyOf('a'))).toMatchObject({ step_count: 2 });
  });

  test('that came, and left memory again, while somebody looked for it goes on from what it was then', async () => {
    publish('gone', 'a', 'b');
    await registry.save();
    const late = deferred();
    gateway.reads.push(late);
    const slow = registry.bringBack(keyOf('new'));
    publish('new', 'a', 'b');
    await registry.save();
    late.resolve();
    await slow;
    publish('new');
    expect(registry.peek(keyOf('new'))).toMatchObject({ step_count: 2 });
  });

  test('is saved after a start with the checkpoint that there was, or all since the first step would be counted twice', async () => {
    publish('a');
    await registry.save();
    const next = gateway.registry();
    await next.recover();
    next.setControl(keyOf('a'), initialControl());
    await next.save();
    expect(gateway.checkpoints).toEqual([1, CHECKPOINT_SEQ]);
  });

  test('is not pushed out of memory while a step of it is being stored', async () => {
    publish('gone', 'a', 'b');
    await registry.save();
    expect(registry.mayHaveLeft(keyOf('a'))).toBe(false);
    publish('c', 'a');
    expect(registry.peek(keyOf('a'))).toMatchObject({ step_count: 2 });
  });

  test('may be stored as soon as any has left memory, and is not before', async () => {
    await registry.recover();
    expect(registry.mayBeStored(keyOf('new'))).toBe(false);
    publish('a', 'b', 'c');
    expect(registry.mayBeStored(keyOf('new'))).toBe(true);
  });

  test('has one although others have left memory, and the list reads it', async () => {
    publish('a', 'b', 'c');
    await hold('new');
    expect(await registry.find(keyOf('new'))).toMatchObject({ session_id: 'new', step_count: 0 });
    await registry.save();
    expect(gateway.rows.has(keyOf('new'))).toBe(true);
  });

  test('is read from the store with the control of now, not the one of when it was saved', async () => {
    publish('early');
    await registry.save();
    publish('a', 'b');
    (gateway.rows.get(keyOf('early')) as SessionView).control = initialControl();
    expect(await registry.find(keyOf('early'))).toMatchObject({ control: { state: 'pause_requested' } });
  });

  test('has one after a restart with as many rows as fit', async () => {
    publish('a', 'b');
    await registry.save();
    registry = gateway.registry();
    await registry.recover();
    await hold('new');
    expect(registry.peek(keyOf('new'))).toMatchObject({ step_count: 0 });
  });

  test.each([
    ['was saved', true],
    ['is not saved yet', false],
  ])('gets the row back that left memory and %s', async (_when, isSaved) => {
    publish('early', 'early', 'early');
    if (isSaved) await registry.save();
    publish('a', 'b');
    expect(registry.peek(keyOf('early'))).toBeUndefined();
    await hold('early');
    expect(registry.peek(keyOf('early'))).toMatchObject({
      step_count: 3,
      control: { state: 'pause_requested' },
    });
  });

  test('costs no look into the store while it, or every session, is in memory', async () => {
    await hold('new');
    publish('a', 'b', 'c');
    await hold('c');
    expect(gateway.asked).toEqual([]);
  });

  test('keeps the row it has if its step is released during the look into the store', async () => {
    publish('a', 'b', 'c');
    const introduced = hold('new');
    publish('new');
    await introduced;
    expect(registry.peek(keyOf('new'))).toMatchObject({ step_count: 1 });
  });

  test('has a new row when the store cannot be asked, and the failure is told', async () => {
    publish('a', 'b', 'c');
    gateway.failing.error = new ObservatoryError('store_busy');
    await hold('new');
    expect(registry.peek(keyOf('new'))).toMatchObject({ session_id: 'new' });
    expect(gateway.failures).toEqual([gateway.failing.error]);
  });
});

describe('a session that left memory', () => {
  let gateway: ReturnType<typeof build>;
  let registry: SessionRegistry;
  /** As the ingest path does. */
  const take = async (...sessionIds: string[]) => {
    for (const sessionId of sessionIds) {
      const key = keyOf(sessionId);
      if (registry.mayHaveLeft(key)) await registry.bringBack(key);
      registry.apply(key, step(sessionId), []);
    }
  };

  beforeEach(() => {
    gateway = build();
    registry = gateway.registry();
  });

  test.each([
    ['was saved', true],
    ['is not saved yet', false],
  ])('goes on with its next step from the row that %s', async (_when, isSaved) => {
    await take('early', 'early', 'early');
    if (isSaved) await registry.save();
    await take('a', 'b', 'early');
    await registry.save();
    expect(gateway.rows.get(keyOf('early'))).toMatchObject({
      step_count: 4,
      control: { state: 'pause_requested' },
    });
  });

  test('goes on from its row though that begins to be saved in the turn in which it is looked for', async () => {
    await take('early');
    await registry.save();
    await take('early', 'early', 'a', 'b');
    const save = deferred();
    gateway.saves.push(save);
    const looked = registry.bringBack(keyOf('early'));
    const saved = registry.save();
    await looked;
    expect(registry.peek(keyOf('early'))).toMatchObject({ step_count: 3 });
    save.resolve();
    await saved;
  });

  test('goes on from its row though a save of it failed and the next one has begun', async () => {
    await take('early');
    await registry.save();
    await take('early', 'early', 'a', 'b');
    const [first, second] = [deferred(), deferred()];
    gateway.saves.push(first, second);
    void registry.save();
    const stopped = registry.stop();
    const looked = registry.bringBack(keyOf('early'));
    first.reject(new ObservatoryError('store_busy'));
    await expect.poll(() => gateway.saves).toEqual([]);
    second.resolve();
    await looked;
    expect(registry.peek(keyOf('early'))).toMatchObject({ step_count: 3 });
    await stopped;
  });

  test('goes on from its row after a restart, when the steps after the rows are folded in', async () => {
    await take('early', 'early', 'early', 'a', 'b');
    await registry.save();
    for (const sessionId of ['a', 'b']) {
      const view = gateway.rows.get(keyOf(sessionId)) as SessionView;
      gateway.rows.delete(keyOf(sessionId));
      gateway.rows.set(keyOf(sessionId), view);
    }
    gateway.later.push({ ...step('early'), seq: CHECKPOINT_SEQ + 1 });
    registry = gateway.registry();
    await registry.recover();
    expect(registry.peek(keyOf('early'))).toMatchObject({ step_count: 4 });
  });

  test('counts all steps after the rows, though fewer are read at once than were asked for', async () => {
    for (let index = 1; index <= 5; index += 1)
      gateway.later.push({ ...step('long'), seq: CHECKPOINT_SEQ + index });
    await registry.recover();
    expect(registry.peek(keyOf('long'))).toMatchObject({ step_count: 5 });
  });

  test('is looked for once if it never was there, and not at all while every session is in memory', async () => {
    await take('a', 'b', 'c');
    expect(gateway.asked).toEqual([]);
    const key = keyOf('new');
    await registry.bringBack(key);
    expect([gateway.asked, registry.mayHaveLeft(key), registry.peek(key)]).toEqual([
      ['new'],
      false,
      undefined,
    ]);
    await take('new');
    expect(registry.peek(key)).toMatchObject({ step_count: 1 });
    await take('a', 'b');
    expect(registry.mayHaveLeft(key)).toBe(true);
  });

  test('keeps its row when the store cannot be asked: the step is refused', async () => {
    await take('early', 'early');
    await registry.save();
    await take('a', 'b');
    gateway.failing.error = new ObservatoryError('store_busy');
    await expect(take('early')).rejects.toMatchObject({ code: 'store_busy' });
    await registry.save();
    expect(gateway.rows.get(keyOf('early'))).toMatchObject({ step_count: 2 });
  });
});

test('a tenant that has few sessions keeps them in its list, and their alerts on the board, however many another has', () => {
  const registry = build().registry();
  const clock = new FakeClock();
  const board = new AlertBoard(clock, (key) => registry.peek(key), vi.fn());
  const key = sessionKey('small', 's-1');
  registry.apply(key, { ...step('s-1'), tenant_id: 'small' }, []);
  board.raise(key, { session_id: 's-1', at_ms: clock.nowMs() } as EntropyAlertEvent);
  clock.advance(60_000);
  for (const sessionId of ['a', 'b', 'c', 'd']) registry.apply(keyOf(sessionId), step(sessionId), []);
  expect(registry.snapshot('small').map(({ session_id }) => session_id)).toEqual(['s-1']);
  expect(board.open('small')).toHaveLength(1);
  expect(registry.snapshot(TENANT).map(({ session_id }) => session_id)).toEqual(['d']);
});

test('live are the sessions that are not over, of this tenant', () => {
  const registry = build().registry();
  registry.apply(keyOf('running'), step('running'), []);
  registry.apply(keyOf('ended'), step('ended'), []);
  expect(registry.liveCounts()).toEqual(new Map([[TENANT, 2]]));
  registry.setControl(keyOf('ended'), { ...initialControl(), state: 'terminated' });
  expect(registry.liveCounts()).toEqual(new Map([[TENANT, 1]]));
});

describe('a session that loops and falls silent', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('shows as idle, its severity stays, and its next step wakes it', async () => {
    const registry = build().registry();
    const looping: StoredStep = { ...step('looping'), entropy_severity: 'loop' };
    const view = () => registry.peek(keyOf('looping'));
    registry.apply(keyOf('looping'), looping, []);
    expect(view()).toMatchObject({ state: 'alert_entropy', severity: 'loop' });
    registry.start();
    await vi.advanceTimersByTimeAsync(5_000 + FEED_INTERVAL_MS);
    expect(view()).toMatchObject({ state: 'idle', severity: 'loop' });
    await registry.stop();
    registry.apply(keyOf('looping'), { ...looping, seq: 2 }, []);
    expect(view()).toMatchObject({ state: 'alert_entropy', severity: 'loop' });
  });
});

describe('sessions that fall silent together', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('are called idle a few hundred with each frame, but for one that wakes meanwhile', async () => {
    const count = IDLE_PER_FRAME_MAX + 2;
    const live = { publish: vi.fn(), isWatched: () => true };
    const registry = build({ sessionCountMax: count, live }).registry();
    const take = (at: number, received_at_ms: number) =>
      registry.apply(keyOf(`s-${at}`), { ...step(`s-${at}`), received_at_ms }, []);
    for (let at = 0; at < count; at += 1) take(at, 1);
    registry.start();
    const sentIdle = () => {
      const rows = live.publish.mock.calls.filter(([, topic]) => topic === TOPICS.sessions);
      live.publish.mockClear();
      return rows.filter(([, , row]) => row.state === 'idle').length;
    };
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sentIdle()).toBe(0);
    await vi.advanceTimersByTimeAsync(FEED_INTERVAL_MS);
    expect(sentIdle()).toBe(IDLE_PER_FRAME_MAX);
    take(count - 1, new FakeClock().nowMs());
    await vi.advanceTimersByTimeAsync(FEED_INTERVAL_MS);
    expect(sentIdle()).toBe(1);
    await registry.stop();
  });
});

describe('sessions that a clock which was ahead has stamped', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('are seen by the clock that was set back with their next step, and idle without one', async () => {
    const clock = new FakeClock();
    const registry = build({ clock }).registry();
    const view = (sessionId: string) => registry.peek(keyOf(sessionId));
    const take = (sessionId: string) =>
      registry.apply(keyOf(sessionId), { ...step(sessionId), received_at_ms: clock.nowMs() }, []);
    clock.set(clock.nowMs() + 40 * DAY_MS);
    for (const sessionId of ['goes on', 'does not']) take(sessionId);
    const aheadMs = clock.nowMs();
    clock.set(aheadMs - 40 * DAY_MS);
    take('goes on');
    registry.start();
    const look = () => vi.advanceTimersByTimeAsync(5_000 + FEED_INTERVAL_MS);
    await look();
    expect(view('goes on')).toMatchObject({ state: 'active', last_seen_ms: clock.nowMs() });
    // As it is stored: which of the clocks was wrong nobody knows, and retention goes by it.
    expect(view('does not')).toMatchObject({ state: 'idle', last_seen_ms: aheadMs });
    clock.advance(60_000);
    take('goes on');
    expect(view('goes on')).toMatchObject({ last_seen_ms: clock.nowMs(), steps_per_minute: 1 });
    clock.advance(60_000);
    await look();
    expect(view('goes on')).toMatchObject({ state: 'idle' });
    await registry.stop();
  });
});

describe('a session whose call was refused', () => {
  const refused = { decision: 'session_capped' as const, at_ms: 7 };

  test('says so until a call of its is not, also after a restart', async () => {
    const gateway = build();
    const first = gateway.registry();
    first.noteCall(keyOf('a'), 'c-1', refused);
    expect(first.peek(keyOf('a'))).toBeUndefined();
    first.apply(keyOf('a'), step('a'), []);
    first.noteCall(keyOf('a'), 'c-1', refused);
    first.apply(keyOf('a'), { ...step('a'), seq: 2 }, []);
    await first.save();
    const sessions = gateway.registry();
    await sessions.recover();
    expect(sessions.peek(keyOf('a'))?.refused_call).toEqual(refused);
    sessions.noteCall(keyOf('a'), 'c-1', null);
    expect(sessions.peek(keyOf('a'))?.refused_call).toBeNull();
    await sessions.save();
    expect(gateway.rows.get(keyOf('a'))?.refused_call).toBeNull();
  });
});

describe('what a call took that makes no step', () => {
  const use = {
    key: keyOf('a'),
    agentId: 'reader',
    callId: 'c-1',
    costUsd: 0.25,
    sessionCostUsd: 1.25,
    tokens: 40,
  };

  test('is in the row at once, and what is taken back no longer', () => {
    const sessions = build().registry();
    sessions.apply(keyOf('a'), step('a'), []);
    const { tokens } = sessions.peek(keyOf('a')) as SessionView;
    sessions.noteStepless(use);
    expect(sessions.peek(keyOf('a'))).toMatchObject({ cost_usd: 1.25, tokens: tokens + 40 });
    sessions.noteStepless({ ...use, costUsd: -0.5, sessionCostUsd: 0.75, tokens: 0 });
    expect(sessions.peek(keyOf('a'))?.cost_usd).toBe(0.75);
    sessions.noteStepless({ ...use, costUsd: null });
    expect(sessions.peek(keyOf('a'))).toMatchObject({ cost_usd: 0.75, cost_unknown: true });
  });

  test('begins its row, which knows what the session cost until a call does not say it', () => {
    const sessions = build().registry();
    sessions.noteStepless({ ...use, sessionCostUsd: 0.25 });
    const row = { agent_id: 'reader', last_trace_id: 'c-1', cost_usd: 0.25, tokens: 40, step_count: 0 };
    expect(sessions.peek(keyOf('a'))).toMatchObject({ ...row, state: 'active', cost_unknown: false });
    sessions.noteStepless({ ...use, costUsd: null });
    const told = step('a');
    told.log.meta.source_app = PROXY_SOURCE;
    told.log.state_delta = { cumulative_session_cost: 2 };
    sessions.apply(keyOf('a'), told, []);
    expect(sessions.peek(keyOf('a'))).toMatchObject({ cost_usd: 2, cost_unknown: true, step_count: 1 });
  });

  test('is from now on, whatever clock the session was seen by before', () => {
    const clock = new FakeClock();
    const sessions = build({ clock }).registry();
    sessions.noteStepless(use);
    clock.set(clock.nowMs() - DAY_MS);
    sessions.noteStepless(use);
    expect(sessions.peek(keyOf('a'))?.last_seen_ms).toBe(clock.nowMs());
  });

  test('is added to a row that has left memory, and lost where the store cannot be asked for it', async () => {
    const { registry, failing, failures } = build();
    const sessions = registry();
    sessions.apply(keyOf('a'), step('a'), []);
    await sessions.save();
    const leave = async () => {
      for (const id of ['b', 'c']) sessions.apply(keyOf(id), step(id), []);
      await sessions.save();
      expect(sessions.peek(keyOf('a'))).toBeUndefined();
    };
    await leave();
    sessions.noteStepless(use);
    await vi.waitFor(() =>
      expect(sessions.peek(keyOf('a'))).toMatchObject({ step_count: 1, cost_usd: 1.25 }),
    );
    await sessions.save();
    await leave();
    failing.error = new Error('no disk');
    sessions.noteStepless(use);
    await vi.waitFor(() => expect(failures).toEqual([failing.error]));
    expect(sessions.peek(keyOf('a'))).toBeUndefined();
  });
});

describe('rows that change with every step', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('leave with each frame where somebody of the tenant watches, and once a second where nobody does', async () => {
    const live = { publish: vi.fn(), isWatched: (tenantId: string) => tenantId === TENANT };
    const registry = build({ live }).registry();
    const apply = (at: number) => {
      for (const tenant_id of [TENANT, 'quiet'])
        registry.apply(sessionKey(tenant_id, 'a'), { ...step('a'), tenant_id, seq: at }, []);
    };
    const sentTo = (tenantId: string) =>
      live.publish.mock.calls
        .filter(([to, topic]) => to === tenantId && topic === TOPICS.sessions)
        .map(([, , row]) => row.step_count);
    registry.start();
    for (let frame = 1; frame <= 10; frame += 1) {
      apply(frame);
      await vi.advanceTimersByTimeAsync(FEED_INTERVAL_MS);
    }
    await registry.stop();
    expect(sentTo(TENANT)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(sentTo('quiet')).toEqual([10]);
  });
});

describe('a session that is held', () => {
  afterEach(() => vi.useRealTimers());

  test('stays in memory, however many come after it', async () => {
    vi.useFakeTimers();
    const { registry, held } = build();
    const sessions = registry();
    held.push(keyOf('held'));
    await sessions.introduceHeld(keyOf('held'), step('held', true));
    sessions.apply(keyOf('a'), step('a'), []);
    sessions.start();
    await vi.advanceTimersByTimeAsync(5_000);
    sessions.apply(keyOf('b'), step('b'), []);
    await sessions.stop();
    expect([...sessions.entries()].map(([key]) => key)).toEqual([keyOf('held'), keyOf('b')]);
  });

  test('is there after a restart, with a younger one', async () => {
    const { registry, rows, held } = build();
    for (const sessionId of ['held', 'a', 'b', 'c']) {
      const before = registry();
      before.apply(keyOf(sessionId), step(sessionId), []);
      await before.save();
    }
    expect(rows.size).toBe(4);
    held.push(keyOf('held'), keyOf('a'));
    const sessions = registry();
    await sessions.recover();
    expect([...sessions.entries()].map(([key]) => key)).toEqual([keyOf('b'), keyOf('held')]);
  });

  test('has the control of now in the store, too, once that is written again', async () => {
    const gateway = build();
    const first = gateway.registry();
    first.apply(keyOf('a'), step('a'), []);
    await first.save();
    // The process dies before a row says what was commanded last.
    Object.assign(gateway.rows.get(keyOf('a')) as SessionView, { control: initialControl() });
    const sessions = gateway.registry();
    await sessions.recover();
    await sessions.save();
    expect(gateway.rows.get(keyOf('a'))?.control.state).toBe('pause_requested');
  });

  test('says how much it holds in the store, too, though it held less when it was saved', async () => {
    const gateway = build();
    const first = gateway.registry();
    first.apply(keyOf('a'), step('a'), []);
    first.setControl(keyOf('a'), { ...initialControl(), state: 'pause_requested', held_count: 3 });
    await first.save();
    const sessions = gateway.registry();
    await sessions.recover();
    await sessions.save();
    expect(gateway.rows.get(keyOf('a'))?.control).toEqual(sessions.peek(keyOf('a'))?.control);
    expect(gateway.rows.get(keyOf('a'))?.control.held_count).toBe(0);
  });
});

describe('who let a session go on', () => {
  const letGo = (): ControlView => ({
    ...initialControl(),
    operator_id: 'ada',
    reason: 'looks fine',
    since_ms: 7,
  });

  test('is shown after a restart, too, whose desk knows no session that is plainly active', async () => {
    const gateway = build({ state: 'active' });
    const before = gateway.registry();
    for (const id of ['a', 'b', 'c']) {
      before.apply(keyOf(id), step(id), []);
      before.setControl(keyOf(id), letGo());
    }
    await before.save();

    const sessions = gateway.registry();
    await sessions.recover();
    // The first has left memory, of which it is read from the store.
    for (const id of ['a', 'b', 'c'])
      expect(await sessions.find(keyOf(id))).toMatchObject({ control: letGo() });
    await sessions.bringBack(keyOf('a'));
    expect(sessions.peek(keyOf('a'))?.control).toEqual(letGo());
  });

  test('is nobody known where its row still shows the pause before', async () => {
    const gateway = build({ state: 'active' });
    const before = gateway.registry();
    before.apply(keyOf('a'), step('a'), []);
    before.setControl(keyOf('a'), { ...letGo(), state: 'paused' });
    await before.save();

    const sessions = gateway.registry();
    await sessions.recover();
    expect(sessions.peek(keyOf('a'))?.control).toEqual(initialControl());
  });
});

describe('a session that was terminated', () => {
  const over = { ended: true, state: 'dead', control: { state: 'terminated' } };

  test('is over also where the process died before its row said so', async () => {
    const { registry, rows } = build({ state: 'terminated' });
    rows.set(keyOf('s-1'), applyStep(undefined, step('s-1'), []));
    const sessions = registry();
    await sessions.recover();
    expect(sessions.peek(keyOf('s-1'))).toMatchObject(over);
    await sessions.save();
    expect(rows.get(keyOf('s-1'))).toMatchObject(over);
  });

  test('is over also where its row had left memory by then', async () => {
    const { registry, rows } = build({ state: 'terminated' });
    const sessions = registry();
    for (const id of ['s-1', 's-2', 's-3']) rows.set(keyOf(id), applyStep(undefined, step(id), []));
    await sessions.recover();
    expect(sessions.peek(keyOf('s-1'))).toBeUndefined();
    expect(await sessions.find(keyOf('s-1'))).toMatchObject(over);
    await sessions.bringBack(keyOf('s-1'));
    expect(sessions.peek(keyOf('s-1'))).toMatchObject(over);
  });
});

describe('the control that an agent obeys', () => {
  const enforced = (): ControlView => ({ ...initialControl(), mode: 'enforced' });

  test('is after a restart what it was, until a command says more, and then as well', async () => {
    const gateway = build({ state: 'active' });
    const before = gateway.registry();
    before.apply(keyOf('proxied'), step('proxied'), []);
    before.setControl(keyOf('proxied'), enforced());
    await before.save();

    const registry = gateway.registry();
    await registry.recover();
    expect(registry.peek(keyOf('proxied'))?.control).toEqual(enforced());
    // Of a desk that has not seen the agent since.
    const shown = registry.setControl(keyOf('proxied'), { ...initialControl(), state: 'pause_requested' });
    expect(shown).toMatchObject({ state: 'pause_requested', mode: 'enforced' });
    expect(registry.peek(keyOf('proxied'))?.control).toEqual(shown);
  });

  test('grows with what the agent shows, and is as told of a session without a row', () => {
    const registry = build({ state: 'active' }).registry();
    registry.apply(keyOf('polled'), step('polled'), []);
    registry.setControl(keyOf('polled'), { ...initialControl(), mode: 'cooperative' });
    expect(registry.setControl(keyOf('polled'), enforced()).mode).toBe('enforced');
    expect(registry.setControl(keyOf('elsewhere'), enforced())).toEqual(enforced());
  });
});

test('forgets those whose rows were deleted, and tells so its list and their pages, but for what has changed and is not stored yet', async () => {
  const live = { publish: vi.fn(), isWatched: () => true };
  const toldGone = () =>
    live.publish.mock.calls.flatMap(([, topic, row]) =>
      topic === TOPICS.sessions && row.is_deleted === true ? [row.session_id] : [],
    );
  const told = (kind: string) =>
    live.publish.mock.calls.flatMap(([, topic, event]) => (event.kind === kind ? [topic] : []));
  const { registry, saves } = build({ sessionCountMax: 3, live });
  const sessions = registry();
  for (const name of ['stored', 'on its way', 'changed']) sessions.apply(keyOf(name), step(name), []);
  await sessions.save();
  sessions.apply(keyOf('on its way'), step('on its way'), []);
  const saving = deferred();
  saves.push(saving);
  const saved = sessions.save();
  sessions.apply(keyOf('changed'), step('changed'), []);
  const shown = () => sessions.snapshot(TENANT).map(({ session_id }) => session_id);
  const all = ['stored', 'on its way', 'changed'].map(keyOf);
  sessions.forget(all);
  expect(shown()).toEqual(['changed', 'on its way']);
  expect(toldGone()).toEqual(['stored']);
  expect(told('deleted')).toEqual([sessionTopic('stored')]);
  saving.resolve();
  await saved;
  sessions.forget(all);
  expect(shown()).toEqual(['changed']);
  expect(toldGone()).toEqual(['stored', 'on its way']);
  expect(told('deleted').slice(-1)).toEqual([sessionTopic('on its way')]);
  // One that has left memory is on no list, but may be open on a page.
  sessions.forget([keyOf('left')]);
  expect(told('deleted').slice(-1)).toEqual([sessionTopic('left')]);
  expect(toldGone()).toEqual(['stored', 'on its way']);
});
