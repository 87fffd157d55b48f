import { describe, expect, test } from 'vitest';
import { FakeClock } from '#testing';
import { buildProxyCall } from '../proxy-call.fixture.js';
import { UpstreamHealthBoard, type UpstreamWait, waitsOf, wasFailedByUpstream } from './upstream-health.js';

const CALL = { decision: 'forwarded', status: 200, first_byte_ms: 5, duration_ms: 9, held_ms: 0 } as const;
const TAKEN_UP = { wasTakenUp: true, wasShutDown: false };

describe('what a call says of its upstream', () => {
  test.each([200, 400, 404, 413, 422])('an answer with %i is an answer', (status) => {
    expect(wasFailedByUpstream({ ...CALL, status }, TAKEN_UP)).toBe(false);
  });

  test.each([401, 402, 403, 408, 429, 500, 503, 529])('one with %i is a failure', (status) => {
    expect(wasFailedByUpstream({ ...CALL, status }, TAKEN_UP)).toBe(true);
    expect(wasFailedByUpstream({ ...CALL, decision: 'hinted', status }, TAKEN_UP)).toBe(true);
  });

  test('no answer, or half of one, is a failure', () => {
    expect(wasFailedByUpstream({ ...CALL, decision: 'upstream_failed' }, TAKEN_UP)).toBe(true);
  });

  test.each(['refused', 'killed', 'cached', 'over_budget', 'terminated', 'cut_off'] as const)(
    'one that was %s says nothing',
    (decision) => {
      expect(wasFailedByUpstream({ ...CALL, decision, status: 429 }, TAKEN_UP)).toBeNull();
    },
  );

  test('a client that left is a failure only where it had waited 30 s for the upstream and heard nothing', () => {
    const left = {
      ...CALL,
      decision: 'aborted',
      status: 499,
      first_byte_ms: null,
      duration_ms: 30_000,
    } as const;
    expect(wasFailedByUpstream(left, TAKEN_UP)).toBe(true);
    expect(wasFailedByUpstream({ ...left, duration_ms: 29_999 }, TAKEN_UP)).toBeNull();
    expect(wasFailedByUpstream({ ...left, held_ms: 1 }, TAKEN_UP)).toBeNull();
    expect(wasFailedByUpstream({ ...left, first_byte_ms: 5 }, TAKEN_UP)).toBeNull();
    expect(wasFailedByUpstream(left, { ...TAKEN_UP, wasTakenUp: false })).toBeNull();
    expect(wasFailedByUpstream(left, { ...TAKEN_UP, wasShutDown: true })).toBeNull();
  });
});

test('calls that wait are the tenant’s that an upstream has; of one that has just come nobody knows whose it is', () => {
  const waiting = (tenantId: string, more: object = {}) =>
    Object.assign(buildProxyCall({ tenantId }), { wasTakenUp: true, heldMs: -40_000, ...more });
  const justCame = waiting('acme', { wasTakenUp: false, principal: undefined });
  const begun = waiting('acme', { firstByteMs: 5 });
  const notSent = waiting('acme', { wasTakenUp: false });
  const waits = [...waitsOf([justCame, begun, notSent, waiting('rival'), waiting('acme')], 'acme')];
  expect(waits).toEqual([{ upstream: 'openai', waitedMs: expect.any(Number) }]);
  expect(waits[0]?.waitedMs).toBeGreaterThanOrEqual(40_000);
});

describe('the health of an upstream', () => {
  const open = () => {
    const clock = new FakeClock();
    const board = new UpstreamHealthBoard(clock);
    const note = (
      failed: boolean,
      agent_id = 'scout',
      tenantId = 'acme',
      upstream = 'openai',
      { status = 503, hasOwnKey = false } = {},
    ) =>
      board.note({
        tenantId,
        upstream,
        agent_id,
        failed,
        hasOwnKey,
        status: failed ? status : 200,
        detail: failed ? 'overloaded' : null,
      });
    const refuses = (agent_id: string, status = 401, hasOwnKey = true) =>
      note(true, agent_id, 'acme', 'openai', { status, hasOwnKey });
    const health = (waits: UpstreamWait[] = []) => board.list('acme', waits)[0];
    return { clock, board, note, refuses, health };
  };

  test('it fails from the third failure in a row, since the first of them, and serves again with one answer', () => {
    const { clock, note, health } = open();
    for (let sent = 0; sent < 97; sent += 1) note(false);
    clock.advance(1_000);
    const sinceMs = clock.nowMs();
    note(true, 'scout');
    note(true, 'writer');
    expect(health()).toMatchObject({ state: 'serving', failing_since_ms: sinceMs });
    clock.advance(1_000);
    note(true, 'scout');
    expect(health()).toEqual({
      name: 'openai',
      state: 'failing',
      call_count: 100,
      failed_count: 3,
      failed_agent_count: 2,
      failed_agent_id: null,
      waiting_count: 0,
      waiting_since_ms: null,
      failing_since_ms: sinceMs,
      answered_at_ms: sinceMs - 1_000,
      last_failure: { at_ms: sinceMs + 1_000, status: 503, detail: 'overloaded' },
    });
    note(false);
    expect(health()).toMatchObject({ state: 'serving', failing_since_ms: null, failed_count: 3 });
  });

  test.each([401, 402, 403, 429])(
    'whose own key alone is refused with %i fails for itself, and is named, while others are answered',
    (status) => {
      const { clock, note, refuses, health } = open();
      note(false, 'scout');
      note(false, 'lone');
      for (let sent = 0; sent < 9; sent += 1) refuses('lone', status);
      expect(health()).toMatchObject({ state: 'faltering', failed_agent_id: 'lone', failed_count: 9 });
      note(false, 'scout');
      for (let sent = 0; sent < 9; sent += 1) refuses('lone', status);
      expect(health()).toMatchObject({ state: 'faltering', failed_agent_id: 'lone' });
      for (const agent of ['writer', 'lone', 'writer']) refuses(agent, status);
      expect(health()).toMatchObject({ state: 'failing', failed_agent_id: null, failed_agent_count: 2 });

      note(false, 'scout');
      clock.advance(5 * 60_000);
      for (let sent = 0; sent < 3; sent += 1) refuses('lone', status);
      expect(health()).toMatchObject({ state: 'failing', failed_agent_id: 'lone' });
    },
  );

  test('a key that all share, and an error that is no matter of keys, fail the upstream by one agent alone', () => {
    for (const [status, hasOwnKey] of [
      [401, false],
      [503, true],
    ] as const) {
      const { note, refuses, health } = open();
      note(false, 'scout');
      for (let sent = 0; sent < 3; sent += 1) refuses('lone', status, hasOwnKey);
      expect(health()).toMatchObject({ state: 'failing', failed_agent_id: 'lone' });
    }
  });

  test('one that answers now and then, and fails eight of ten, fails all the while', () => {
    const { clock, note, health } = open();
    const sinceMs = clock.nowMs() + 5_000;
    for (let sent = 0; sent < 40; sent += 1) {
      note(sent % 5 !== 4);
      clock.advance(1_000);
      if (sent >= 9) expect(health()).toMatchObject({ state: 'failing', failing_since_ms: sinceMs });
    }
    for (let sent = 0; sent < 2; sent += 1) note(false);
    expect(health()).toMatchObject({ state: 'faltering', failing_since_ms: null });
  });

  test('one that keeps three calls waiting for 30 s, and has answered none since, falters before any of them ends', () => {
    const { clock, note, health } = open();
    const waits = (...waitedMs: number[]) => waitedMs.map((ms) => ({ upstream: 'openai', waitedMs: ms }));
    expect(health(waits(29_999, 29_999, 29_999))).toBeUndefined();
    expect(health(waits(30_000, 90_000))).toMatchObject({
      state: 'idle',
      waiting_count: 2,
      waiting_since_ms: clock.nowMs() - 90_000,
    });
    expect(health(waits(30_000, 90_000, 30_000))).toMatchObject({ state: 'faltering', waiting_count: 3 });
    note(false);
    expect(health(waits(30_000, 90_000, 30_000))).toMatchObject({ state: 'serving', waiting_count: 3 });
    clock.advance(60_000);
    expect(health(waits(30_000, 59_999, 30_000))).toMatchObject({ state: 'faltering' });
    for (let sent = 0; sent < 3; sent += 1) note(true);
    expect(health(waits(30_000, 30_000, 30_000))).toMatchObject({ state: 'failing' });
  });

  test('it falters where it fails a tenth of the last five minutes, three at least', () => {
    const { clock, note, health } = open();
    const fails = (failed: number, answered: number) => {
      clock.advance(6 * 60_000);
      for (let sent = 0; sent < failed; sent += 1) note(true);
      for (let sent = 0; sent < answered; sent += 1) note(false);
      return health()?.state;
    };
    expect(fails(2, 2)).toBe('serving');
    expect(fails(3, 27)).toBe('faltering');
    expect(fails(3, 28)).toBe('serving');
  });

  test('after five minutes without a call nobody knows, and what was last seen is still told', () => {
    const { clock, note, health } = open();
    for (let sent = 0; sent < 3; sent += 1) note(true);
    clock.advance(5 * 60_000);
    expect(health()).toMatchObject({ state: 'idle', call_count: 0, failed_count: 0, failed_agent_count: 0 });
    expect(health()).toMatchObject({ answered_at_ms: null, last_failure: { status: 503 } });
    expect(health()?.failing_since_ms).not.toBeNull();
  });

  test('a wall clock that is set moves the times with it and changes nothing else', () => {
    const { clock, note, health } = open();
    for (let sent = 0; sent < 3; sent += 1) note(true);
    clock.set(clock.nowMs() - 3_600_000);
    expect(health()).toMatchObject({ state: 'failing', failing_since_ms: clock.nowMs() });
  });

  test('agents are told apart up to a thousand, the latest', () => {
    const { note, health } = open();
    for (let agent = 0; agent < 1_001; agent += 1) note(true, `agent-${agent}`);
    expect(health()?.failed_agent_count).toBe(1_000);
  });

  test('tenants do not mix, and upstreams are listed by name', () => {
    const { board, note } = open();
    note(true, 'scout', 'acme', 'openai');
    note(false, 'scout', 'acme', 'anthropic');
    note(true, 'spy', 'rival', 'openai');
    expect(board.list('acme', []).map(({ name }) => name)).toEqual(['anthropic', 'openai']);
    expect(board.list('acme', [])[1]).toMatchObject({ call_count: 1, failed_agent_count: 1 });
    expect(board.list('nobody', [])).toEqual([]);
  });
});
