/** Somebody sets the wall clock while rules watch: what lasts goes by the time that passes. */
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#testing';
import type { AlertEvent } from './alert-event.js';
import { AlertRules } from './alert-rules.js';
import { defaultRules, type RuleSettings } from './rule-defaults.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const phases = (due: readonly { phase: string }[]) => due.map(({ phase }) => phase);

function watch(type: RuleSettings['type'], windowS: number | null = null) {
  const clock = new FakeClock();
  const [base] = defaultRules('ada') as [RuleSettings];
  const rule = { ...base, rule_id: type, type, cooldown_s: 0, window_s: windowS };
  const rules = new AlertRules({
    clock,
    rulesOf: () => [rule],
    policyBar: () => null,
    spentUsd: () => ({ hour: 0, day: 0, month: 0, hourAtMost: 0 }),
    onBound: () => {},
  });
  const subject = () => ({
    tenant_id: 'default',
    agent_id: 'crawler',
    session_id: 's1',
    at_ms: clock.nowMs(),
  });
  const observe = (event: object) => phases(rules.observe({ ...event, ...subject() } as AlertEvent));
  const tick = () => phases(rules.tick(clock.nowMs()));
  /** The wall clock alone. */
  const set = (byMs: number) => clock.set(clock.nowMs() + byMs);
  return { clock, observe, tick, set };
}

const call = (failed: boolean) => ({ kind: 'call', failed });
const semanticLoop = {
  kind: 'semantic_loop',
  similarity: 0.97,
  threshold: 0.95,
  occurrence: 1,
  paused: false,
};

it.each([
  ['hour', 'hour', 2],
  ['day', 'day', 40 * 24],
] as const)(
  'the spent budget of the %s that a clock ahead has stamped is one of now when that is set back, and over in its time',
  (_, period, hoursAhead) => {
    const { clock, observe, tick, set } = watch('budget');
    const endOfPeriodMs = { hour: HOUR_MS, day: 12 * HOUR_MS }[period];
    set(hoursAhead * HOUR_MS);
    const budgets = [{ period, spent_usd: 1, budget_usd: 1 }];
    expect(observe({ kind: 'spend', budgets, refused: period })).toEqual(['firing']);
    set(-hoursAhead * HOUR_MS);
    expect(tick()).toEqual([]);
    clock.advance(endOfPeriodMs - 1);
    expect(tick()).toEqual([]);
    clock.advance(1);
    expect(tick()).toEqual(['recovered']);
  },
);

describe.each([
  ['two hours back', -2 * HOUR_MS],
  ['two hours ahead', 2 * HOUR_MS],
])('where the clock is set %s', (_, byMs) => {
  it('failures leave their window when it is over, and no sooner', () => {
    const { clock, observe, tick, set } = watch('error_rate', 60);
    const told = Array.from({ length: 10 }, () => observe(call(true)));
    expect(told.flat()).toEqual(['firing']);
    set(byMs);
    expect(tick()).toEqual([]);
    clock.advance(30_000);
    expect(tick()).toEqual([]);
    clock.advance(32_000);
    expect(tick()).toEqual(['recovered']);
  });

  it('a loop of prompts is over when none followed for its window, and no sooner', () => {
    const { clock, observe, tick, set } = watch('semantic_loop', 300);
    expect(observe(semanticLoop)).toEqual(['firing']);
    set(byMs);
    clock.advance(299_000);
    expect(tick()).toEqual([]);
    clock.advance(1_000);
    expect(tick()).toEqual(['recovered']);
  });

  it('a loop of steps is over when its session is unheard of for ten minutes, and no sooner', () => {
    const { clock, observe, tick, set } = watch('entropy_loop');
    expect(observe({ kind: 'step', severity: 'loop', ended: false })).toEqual(['firing']);
    set(byMs);
    clock.advance(10 * MINUTE_MS - 1);
    expect(tick()).toEqual([]);
    clock.advance(1);
    expect(tick()).toEqual(['recovered']);
  });
});
