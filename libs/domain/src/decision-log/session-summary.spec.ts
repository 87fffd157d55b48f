import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EntropyTuple,
  PROXY_SOURCE,
  type SessionView,
  type Severity,
  sessionViewSchema,
} from '#contracts';
import { buildDecisionLog, type DecisionLogOverrides } from '#testing';
import { applyStep, applyUse, initialControl, type SummarisedStep } from './index.js';

const START_MS = 1_800_000_000_000;

const step = (
  overrides: DecisionLogOverrides & { atMs?: number; severity?: Severity; score?: number } = {},
): SummarisedStep => {
  const { atMs = START_MS, severity = 'normal', score = 1, ...log } = overrides;
  const built = buildDecisionLog(log);
  return {
    session_id: 'session-1',
    received_at_ms: atMs,
    entropy_score: score,
    entropy_severity: severity,
    trace_id: built.meta.trace_id,
    log: built,
  };
};
const fold = (...steps: SummarisedStep[]): SessionView =>
  steps.reduce<SessionView | undefined>((view, one) => applyStep(view, one, []), undefined) as SessionView;

describe('applyStep', () => {
  it('starts a row from the first step', () => {
    const window: EntropyTuple[] = [{ intent: 'search', tool_call: 'read_file', action_status: 'success' }];
    const first = step({
      meta: { trace_id: 't1', cluster_id: 'c', source_app: 'app' },
      identity: { model_name: 'm' },
    });
    const view = applyStep(undefined, first, window);
    expect(view).toEqual({
      session_id: 'session-1',
      agent_id: 'agent-1',
      agent_type: 'researcher',
      model_name: 'm',
      cluster_id: 'c',
      source_app: 'app',
      state: 'active',
      severity: 'normal',
      entropy_score: 1,
      window,
      last_intent: 'search',
      last_tool: 'read_file',
      last_status: 'success',
      last_trace_id: 't1',
      step_count: 1,
      failure_count: 0,
      steps_per_minute: 1,
      cost_usd: 0,
      cost_unknown: true,
      tokens: 0,
      started_ms: START_MS,
      last_seen_ms: START_MS,
      refused_call: null,
      ended: false,
      control: initialControl(),
    });
    expect(sessionViewSchema.parse(view)).toEqual(view);
  });

  it('changes the given row in place', () => {
    const view = fold(step());
    expect(applyStep(view, step({ action: { status: 'failure' } }), [])).toBe(view);
    expect(view).toMatchObject({ step_count: 2, failure_count: 1, last_status: 'failure' });
  });

  it('shows whose step was the latest, and which it was', () => {
    const latest = step({
      meta: { trace_id: 't2' },
      identity: { agent_id: 'writer-1', agent_type: 'writer' },
      cognition: { intent: 'write' },
      action: { tool_call: 'write_file' },
    });
    expect(fold(step(), latest)).toMatchObject({
      agent_id: 'writer-1',
      agent_type: 'writer',
      last_intent: 'write',
      last_tool: 'write_file',
      last_trace_id: 't2',
    });
  });

  it.each([
    ['normal', 'active'],
    ['warning', 'blocked'],
    ['loop', 'alert_entropy'],
  ] as const)('shows %s as %s', (severity, state) => {
    expect(fold(step({ severity, score: 0.3 }))).toMatchObject({ severity, state, entropy_score: 0.3 });
  });

  it('keeps a finished session finished', () => {
    const view = fold(step({ control: { is_terminal: true } }), step());
    expect(view).toMatchObject({ ended: true, state: 'dead' });
  });

  it('[FR-9.10+] has a finished session go on that loops, unless it was terminated', () => {
    const isTerminal = { control: { is_terminal: true } };
    const view = fold(step(isTerminal), step({ severity: 'loop', score: 0.2 }));
    expect(view).toMatchObject({ ended: false, state: 'alert_entropy' });
    expect(applyStep(view, step({ ...isTerminal, severity: 'loop', score: 0.2 }), []).ended).toBe(true);
    view.control = { ...view.control, state: 'terminated' };
    expect(applyStep(view, step({ severity: 'loop', score: 0.2 }), [])).toMatchObject({ ended: true });
  });

  it('adds tokens, and takes the largest cost, which is cumulative already', () => {
    const costs = [0.1, 0.4, 0.3].map((cumulative_session_cost) =>
      step({ state_delta: { tokens_consumed: 10, cumulative_session_cost } }),
    );
    expect(fold(...costs, step())).toMatchObject({ tokens: 30, cost_usd: 0.4 });
  });

  it('is seen, and awake, with a call that makes no step, and counts no step for it', () => {
    const view = fold(step({ severity: 'warning' }), step({ severity: 'warning' }));
    view.state = 'idle';
    applyUse(view, { costUsd: 0.5, sessionCostUsd: 0.5, tokens: 5 }, START_MS + 30_000);
    const atHalf = { steps_per_minute: 1, step_count: 2, last_seen_ms: START_MS + 30_000 };
    expect(view).toMatchObject({ ...atHalf, state: 'blocked', cost_usd: 0.5, tokens: 5 });
    view.ended = true;
    view.state = 'dead';
    applyUse(view, { costUsd: -0.25, sessionCostUsd: 0.25, tokens: 0 }, START_MS);
    expect(view).toMatchObject({ state: 'dead', cost_usd: 0.25, last_seen_ms: START_MS + 30_000 });
    // Of steps that are held still.
    applyUse(view, { costUsd: -0.5, sessionCostUsd: 0.25, tokens: 0 }, START_MS);
    expect(view.cost_usd).toBe(0);
  });

  it('does not know a cost that nobody told, which is not zero', () => {
    const tokens = step({ state_delta: { tokens_consumed: 10 } });
    const told = step({ state_delta: { tokens_consumed: 10, cumulative_session_cost: 0 } });
    expect(fold(step())).toMatchObject({ cost_usd: 0, cost_unknown: true });
    expect(fold(told)).toMatchObject({ cost_usd: 0, cost_unknown: false });
    // What took no tokens adds nothing to what was told.
    expect(fold(told, step()).cost_unknown).toBe(false);
    expect(fold(told, tokens).cost_unknown).toBe(true);
    expect(fold(told, tokens, told).cost_unknown).toBe(false);
  });

  it('never forgets a proxied call without a price: later sums leave it out', () => {
    const proxied = (cumulative_session_cost?: number) =>
      step({
        meta: { source_app: PROXY_SOURCE },
        state_delta: { tokens_consumed: 10, ...(cumulative_session_cost && { cumulative_session_cost }) },
      });
    expect(fold(proxied(0.1), proxied(0.2)).cost_unknown).toBe(false);
    expect(fold(proxied(0.1), proxied(), proxied(0.3))).toMatchObject({ cost_usd: 0.3, cost_unknown: true });
    expect(fold(proxied(), proxied(0.3)).cost_unknown).toBe(true);
  });

  it('remembers model, cluster and application through steps that do not name them', () => {
    const view = fold(
      step({ identity: { model_name: 'm' }, meta: { cluster_id: 'c', source_app: 'a' } }),
      step(),
    );
    expect(view).toMatchObject({ model_name: 'm', cluster_id: 'c', source_app: 'a' });
  });

  it('is its agent’s own from the first step on that comes from no proxy, and what that cost is not known until it says so', () => {
    const proxied = step({
      meta: { source_app: PROXY_SOURCE },
      state_delta: { cumulative_session_cost: 0.1 },
    });
    expect(fold(proxied)).toMatchObject({ source_app: PROXY_SOURCE, cost_unknown: false });
    expect(fold(proxied, step())).toMatchObject({ source_app: '', cost_usd: 0.1, cost_unknown: true });
    const told = step({ state_delta: { cumulative_session_cost: 0.3 } });
    expect(fold(proxied, told)).toMatchObject({ source_app: '', cost_usd: 0.3, cost_unknown: false });
    expect(fold(proxied, step(), proxied)).toMatchObject({ source_app: PROXY_SOURCE, cost_unknown: true });
  });

  it('cuts texts at 120 characters, not through a surrogate pair', () => {
    const long = `${'x'.repeat(118)}😀😀😀`;
    const view = applyStep(
      undefined,
      step({ cognition: { intent: long }, action: { tool_call: 'y'.repeat(500) } }),
      [{ intent: long, tool_call: 'y'.repeat(500), action_status: 'success' }],
    );
    expect(view.last_intent).toBe(`${'x'.repeat(118)}…`);
    expect(view.last_tool).toHaveLength(120);
    expect(view.window[0]).toEqual({
      intent: view.last_intent,
      tool_call: view.last_tool,
      action_status: 'success',
    });
  });

  it('does not go back in time with a clock that does', () => {
    const view = fold(step({ atMs: START_MS }), step({ atMs: START_MS - 5_000 }));
    expect(view).toMatchObject({ started_ms: START_MS, last_seen_ms: START_MS, steps_per_minute: 2 });
  });

  describe('steps per minute', () => {
    const every = (gapMs: number, count: number) =>
      fold(...Array.from({ length: count }, (_, index) => step({ atMs: START_MS + index * gapMs })))
        .steps_per_minute;

    it.each([
      [1_000, 60],
      [5_000, 12],
      [30_000, 2],
      [120_000, 1],
    ])('settles to what an even rate of one step each %d ms is: %d', (gapMs, rate) => {
      expect(every(gapMs, 600)).toBeCloseTo(rate, 1);
    });

    it('counts a burst exactly', () => {
      expect(every(0, 7)).toBe(7);
    });

    it('is one after a silent minute', () => {
      expect(fold(step(), step(), step({ atMs: START_MS + 60_000 })).steps_per_minute).toBe(1);
    });

    it('is never below one nor above the number of steps', () => {
      fc.assert(
        fc.property(
          fc.array(fc.integer({ min: 0, max: 90_000 }), { minLength: 1, maxLength: 50, size: 'max' }),
          (gaps) => {
            let atMs = START_MS;
            const steps = gaps.map((gap) => {
              atMs += gap;
              return step({ atMs });
            });
            const view = fold(...steps);
            expect(view.steps_per_minute).toBeGreaterThanOrEqual(1);
            expect(view.steps_per_minute).toBeLessThanOrEqual(gaps.length);
          },
        ),
      );
    });
  });
});
