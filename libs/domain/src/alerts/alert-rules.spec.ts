import { describe, expect, it } from 'vitest';
import { ACKNOWLEDGED_MS_MAX, ALL_AGENTS, type PolicyBar } from '#contracts';
import { FakeClock } from '#testing';
import type { AlertEvent } from './alert-event.js';
import { AlertRules, type AlertRulesOptions, TICK_WORK_MS_MAX } from './alert-rules.js';
import { LOOPING_SESSIONS_PER_AGENT_MAX } from './looping-sessions.js';
import { noticeOf } from './notice.js';
import { NEWS_GAP_MS } from './notice-plan.js';
import type { SpentUsd } from './rule-condition.js';
import { defaultRules, type RuleSettings } from './rule-defaults.js';
import { AGENTS_PER_TENANT_MAX, type DueNotice } from './tenant-rules.js';
import type { FiringState } from './watched-rule.js';

const T0 = Date.UTC(2026, 0, 15, 12);
const MINUTE = 60_000;

const NOTHING_SPENT = () => ({ hour: 0, day: 0, month: 0, hourAtMost: 0 });

const rule = (type: RuleSettings['type'], changes: Partial<RuleSettings> = {}): RuleSettings => ({
  rule_id: `rule-${type}`,
  name: type,
  type,
  enabled: true,
  agent_id: null,
  threshold: null,
  threshold_usd: null,
  period: null,
  window_s: null,
  cooldown_s: 0,
  repeat_s: null,
  notify_recovery: true,
  muted_until_ms: null,
  channel_ids: [],
  created_at_ms: 0,
  updated_by: 'ada',
  ...changes,
});

/** Time goes on to what they are told of; back it is set. */
class RulesInTime extends AlertRules {
  constructor(
    private readonly clock: FakeClock,
    options: Omit<AlertRulesOptions, 'clock'>,
  ) {
    super({ ...options, clock });
  }

  override observe(event: AlertEvent): DueNotice[] {
    this.#until(event.at_ms);
    return super.observe(event);
  }

  override tick(nowMs: number): DueNotice[] {
    this.#until(nowMs);
    return super.tick(nowMs);
  }

  #until(nowMs: number): void {
    const passedMs = nowMs - this.clock.nowMs();
    if (passedMs > 0) this.clock.advance(passedMs);
    else this.clock.set(nowMs);
  }
}

/** In `spent`, in place of an agent. */
const TOGETHER = '(all)';

function watch(...settings: RuleSettings[]) {
  const bounds: string[] = [];
  const kept = { rules: settings };
  const bars = new Map<string, PolicyBar>();
  const spent = new Map<string, Omit<SpentUsd, 'hourAtMost'> & Partial<SpentUsd>>();
  const rules = new RulesInTime(new FakeClock(T0), {
    rulesOf: (tenantId) => (tenantId === 'default' ? kept.rules : []),
    policyBar: (tenantId, agentId) => (tenantId === 'default' && bars.get(agentId)) || null,
    spentUsd: (_tenantId, agentId) => {
      const known = spent.get(agentId ?? TOGETHER) ?? NOTHING_SPENT();
      return { hourAtMost: known.hour, ...known };
    },
    onBound: (bound) => bounds.push(bound),
  });
  return { rules, kept, bounds, bars, spent };
}

type Watched = ReturnType<typeof watch>;

const subject = (atMs: number, agent_id = 'crawler') => ({
  tenant_id: 'default',
  agent_id,
  session_id: 's1' as string | null,
  at_ms: T0 + atMs,
});
const call = (atMs: number, failed: boolean, agentId?: string): AlertEvent => ({
  kind: 'call',
  ...subject(atMs, agentId),
  failed,
});
/** In a session that was terminated. */
const endedCall = (atMs: number): AlertEvent => ({
  kind: 'call',
  ...subject(atMs),
  failed: true,
  terminated: true,
});
const incident = (atMs: number, agentId?: string): AlertEvent => ({
  kind: 'incident',
  ...subject(atMs, agentId),
  incident_id: 'inc-1',
  score: 13,
  threshold: 10,
});
const reactivated = (atMs: number): AlertEvent => ({ kind: 'reactivated', ...subject(atMs) });
const label = (atMs: number, severity: 'normal' | 'loop', session_id = 's1'): AlertEvent => ({
  kind: 'severity',
  ...subject(atMs),
  session_id,
  severity,
});
const step = (atMs: number, changes: { severity?: 'loop'; ended?: boolean } = {}): AlertEvent => ({
  kind: 'step',
  ...subject(atMs),
  severity: 'normal',
  ended: false,
  ...changes,
});
type Period = 'hour' | 'day' | 'month';
const spent = (spent_usd: number, period: Period) => ({ period, spent_usd, budget_usd: 10 });
type Spend = AlertEvent & { kind: 'spend' };
const spendOf = (atMs: number, ...budgets: ReturnType<typeof spent>[]): Spend => ({
  kind: 'spend',
  ...subject(atMs),
  budgets,
  refused: null,
});
const spend = (atMs: number, spentUsd: number, period: Period = 'day'): Spend =>
  spendOf(atMs, spent(spentUsd, period));
/** As it was kept by a process that told people of it once. */
const kept = (changes: Partial<FiringState> = {}): FiringState => ({
  agent_id: 'crawler',
  since_ms: T0,
  notice_count: 1,
  last_notice_ms: T0,
  told_session_ids: [],
  acknowledged: null,
  refusals: [],
  ...changes,
});
const phases = (due: DueNotice[]): string[] => due.map(({ phase }) => phase);

describe('a kill_switch rule', () => {
  it('fires on an incident, once, and is over when the agent is reactivated', () => {
    const { rules } = watch(rule('kill_switch'));
    const [first] = rules.observe(incident(0));
    expect(first).toMatchObject({
      phase: 'firing',
      agent_id: 'crawler',
      session_id: 's1',
      detail: { incident_id: 'inc-1', score: 13, threshold: 10 },
    });
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    expect(rules.firing('default', 'rule-kill_switch')).toEqual([
      { agent_id: 'crawler', since_ms: T0, notice_count: 1, acknowledged: null },
    ]);
    expect(rules.observe(reactivated(5 * MINUTE))).toMatchObject([
      { phase: 'recovered', since_ms: T0, at_ms: T0 + 5 * MINUTE, session_id: 's1' },
    ]);
    expect(rules.firing('default', 'rule-kill_switch')).toEqual([]);
  });

  it('fires anew for the next incident', () => {
    const { rules } = watch(rule('kill_switch'));
    const due = [incident(0), reactivated(1_000), incident(2_000)].flatMap((event) => rules.observe(event));
    expect(phases(due)).toEqual(['firing', 'recovered', 'firing']);
  });

  it('fires at once for an incident after a reactivation, also within the cooldown', () => {
    const { rules } = watch(rule('kill_switch', { cooldown_s: 300 }));
    const due = [incident(0), reactivated(1_000), incident(2_000)].flatMap((event) => rules.observe(event));
    expect(phases(due)).toEqual(['firing', 'recovered', 'firing']);
    expect(rules.takeChanged()).toEqual([{ tenantId: 'default', ruleId: 'rule-kill_switch' }]);
  });

  it('is one of the four that everybody has, without a channel', () => {
    expect(defaultRules('system').map(({ type, channel_ids }) => [type, channel_ids])).toEqual([
      ['kill_switch', []],
      ['entropy_loop', []],
      ['semantic_loop', []],
      ['hitl_required', []],
    ]);
  });
});

describe('a semantic_loop rule', () => {
  const loop = (atMs: number, occurrence = 2, session_id = 's1'): AlertEvent => ({
    kind: 'semantic_loop',
    ...subject(atMs),
    session_id,
    similarity: 0.971_23,
    threshold: 0.95,
    occurrence,
    paused: occurrence > 2,
  });

  it('fires at a loop, goes on with each, and is over when none was found for the window', () => {
    const { rules } = watch(rule('semantic_loop'));
    expect(rules.observe(loop(0))).toMatchObject([
      {
        phase: 'firing',
        session_id: 's1',
        detail: { similarity: 0.9712, threshold: 0.95, occurrence: 2, paused: false, window_s: 600 },
      },
    ]);
    expect(rules.observe(loop(9 * MINUTE, 3))).toEqual([]);
    expect(rules.tick(T0 + 18 * MINUTE)).toEqual([]);
    expect(rules.tick(T0 + 19 * MINUTE)).toMatchObject([{ phase: 'recovered', session_id: 's1' }]);
  });

  it('takes the window that the rule names', () => {
    const { rules } = watch(rule('semantic_loop', { window_s: 60 }));
    rules.observe(loop(0));
    expect(phases(rules.tick(T0 + MINUTE))).toEqual(['recovered']);
  });

  it('knows of no other event, and no other rule of it', () => {
    const { rules } = watch(rule('semantic_loop'), rule('entropy_loop', { rule_id: 'entropy' }));
    expect(rules.observe(label(0, 'loop')).map((due) => due.rule.type)).toEqual(['entropy_loop']);
    expect(rules.observe(loop(1_000)).map((due) => due.rule.type)).toEqual(['semantic_loop']);
  });

  it('goes on after a restart until the window has passed', () => {
    const { rules } = watch(rule('semantic_loop', { repeat_s: 240 }));
    const state = kept({ since_ms: T0 - 8 * MINUTE, last_notice_ms: T0 - 5 * MINUTE });
    rules.restore('default', 'rule-semantic_loop', [state]);
    expect(rules.tick(T0)).toMatchObject([{ phase: 'repeat', detail: {} }]);
    expect(rules.firing('default', 'rule-semantic_loop')).toHaveLength(1);
    expect(phases(rules.tick(T0 + 9 * MINUTE))).toEqual(['repeat']);
    expect(phases(rules.tick(T0 + 10 * MINUTE))).toEqual(['recovered']);
  });

  it('that people heard of long before a restart is neither over by it nor news', () => {
    const before = watch(rule('semantic_loop'));
    for (let n = 0; n <= 6; n += 1) before.rules.observe(loop(5 * n * MINUTE, n + 1));
    const restartedMs = 31 * MINUTE;
    const { rules } = watch(rule('semantic_loop'));
    expect(rules.tick(T0 + restartedMs)).toEqual([]);
    rules.restore('default', 'rule-semantic_loop', before.rules.states('default', 'rule-semantic_loop'));
    expect(rules.tick(T0 + restartedMs)).toEqual([]);
    expect(rules.observe(loop(35 * MINUTE, 8))).toEqual([]);
    expect(phases(rules.tick(T0 + 45 * MINUTE))).toEqual(['recovered']);
  });

  it('tells a further session of the agent by its name and figures, once, and the end of the last', () => {
    const { rules } = watch(rule('semantic_loop', { cooldown_s: 60 }));
    rules.observe(loop(0));
    expect(rules.observe(loop(2 * MINUTE, 3, 's2'))).toMatchObject([
      {
        phase: 'firing',
        session_id: 's2',
        since_ms: T0,
        detail: {
          occurrence: 3,
          paused: true,
          loop_session_count: 2,
          new_session_count: 1,
          newest_session_ids: ['s2', 's1'],
        },
      },
    ]);
    for (const session of ['s1', 's2']) expect(rules.observe(loop(9 * MINUTE, 4, session))).toEqual([]);
    expect(rules.tick(T0 + 19 * MINUTE - 1)).toEqual([]);
    expect(rules.tick(T0 + 19 * MINUTE)).toMatchObject([{ phase: 'recovered', session_id: 's2' }]);
  });

  it('tells together those that come up within the cooldown, with the figures of the newest', () => {
    const { rules } = watch(rule('semantic_loop', { cooldown_s: 300 }));
    rules.observe(loop(0));
    expect(rules.observe(loop(1_000, 2, 's2'))).toEqual([]);
    expect(rules.observe(loop(2_000, 3, 's3'))).toEqual([]);
    expect(rules.observe(loop(3_000, 4, 's1'))).toEqual([]);
    expect(rules.tick(T0 + 300_000)).toMatchObject([
      { session_id: 's3', detail: { occurrence: 3, loop_session_count: 3, new_session_count: 2 } },
    ]);
  });

  it('tells a session anew that was out of its loop for the window', () => {
    const { rules } = watch(rule('semantic_loop', { window_s: 60 }));
    rules.observe(loop(0));
    rules.observe(loop(50_000, 2, 's2'));
    rules.tick(T0 + MINUTE);
    expect(rules.observe(loop(100_000))).toMatchObject([
      { phase: 'firing', session_id: 's1', detail: { new_session_count: 1 } },
    ]);
  });

  it('tells after a restart of no session twice, and of one that is new', () => {
    const before = watch(rule('semantic_loop'));
    before.rules.observe(loop(0));
    const { rules } = watch(rule('semantic_loop'));
    rules.restore('default', 'rule-semantic_loop', before.rules.states('default', 'rule-semantic_loop'));
    expect(rules.tick(T0 + 1_000)).toEqual([]);
    expect(rules.observe(loop(MINUTE, 3))).toEqual([]);
    expect(rules.observe(loop(2 * MINUTE, 2, 's2'))).toMatchObject([
      { phase: 'firing', session_id: 's2', detail: { loop_session_count: 2, new_session_count: 1 } },
    ]);
  });

  it('that left its loop before a restart is news once more behind it, though another goes on', () => {
    const { rules } = watch(rule('semantic_loop'));
    rules.observe(loop(0));
    for (const minutes of [1, 6]) rules.observe(loop(minutes * MINUTE, 2, 's2'));
    rules.takeChanged();
    expect(rules.tick(T0 + 10 * MINUTE - 1)).toEqual([]);
    expect(rules.takeChanged()).toEqual([]);
    expect(rules.tick(T0 + 10 * MINUTE)).toEqual([]);
    expect(rules.takeChanged()).toEqual([{ tenantId: 'default', ruleId: 'rule-semantic_loop' }]);
    expect(rules.states('default', 'rule-semantic_loop')).toMatchObject([{ told_session_ids: ['s2'] }]);
  });

  it('tells no more than a hundred sessions of one agent apart, and goes on for as long as any loops', () => {
    const { rules } = watch(rule('semantic_loop'));
    for (let n = 1; n <= LOOPING_SESSIONS_PER_AGENT_MAX; n += 1) rules.observe(loop(0, 2, `s${n}`));
    rules.tick(T0 + MINUTE);
    expect(rules.observe(loop(9 * MINUTE, 2, 'beyond'))).toEqual([]);
    expect(rules.tick(T0 + 18 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 19 * MINUTE))).toEqual(['recovered']);
  });
});

describe('an entropy_loop rule', () => {
  it('fires when a session goes into a loop and is over when none of the agent is in one', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 300 }));
    expect(phases(rules.observe(step(0, { severity: 'loop' })))).toEqual(['firing']);
    expect(rules.observe(step(1_000, { severity: 'loop' }))).toEqual([]);
    expect(rules.observe(label(2_000, 'loop', 's2'))).toEqual([]);
    expect(rules.observe(label(3_000, 'normal', 's1'))).toEqual([]);
    expect(phases(rules.observe(label(4_000, 'normal', 's2')))).toEqual(['recovered']);
  });

  it('is over when the looping session ends', () => {
    const { rules } = watch(rule('entropy_loop'));
    rules.observe(step(0, { severity: 'loop' }));
    expect(phases(rules.observe(step(1_000, { severity: 'loop', ended: true })))).toEqual(['recovered']);
  });
});

describe('a hitl_required rule', () => {
  const person = (atMs: number, awaited: boolean, session_id = 's1', expires_at_ms: number | null = null) =>
    ({
      kind: 'person',
      ...subject(atMs),
      session_id,
      awaited,
      expires_at_ms,
      on_expiry: 'resume',
    }) as const satisfies AlertEvent;

  it('fires when an agent asks for a person, and is over when one has come to each of its sessions', () => {
    const { rules } = watch(rule('hitl_required'));
    expect(phases(rules.observe(person(0, true)))).toEqual(['firing']);
    expect(rules.observe(person(1_000, true))).toEqual([]);
    const [another] = rules.observe(person(2_000, true, 's2'));
    expect(another).toMatchObject({
      phase: 'firing',
      session_id: 's2',
      detail: { waiting_session_count: 2, new_session_count: 1, newest_session_ids: ['s2', 's1'] },
    });
    expect(rules.observe(step(3_000))).toEqual([]);
    expect(rules.observe(person(4_000, false))).toEqual([]);
    expect(phases(rules.observe(person(5_000, false, 's2')))).toEqual(['recovered']);
    expect(rules.observe(person(6_000, false, 's2'))).toEqual([]);
  });

  it('says which pause ends first if nobody comes', () => {
    const { rules } = watch(rule('hitl_required'));
    const [first] = rules.observe(person(0, true, 's1', T0 + 30 * MINUTE));
    expect(first?.detail).toMatchObject({ expires_at_ms: T0 + 30 * MINUTE, on_expiry: 'resume' });
    const [second] = rules.observe(person(MINUTE, true, 's2', T0 + 31 * MINUTE));
    expect(second?.detail).toMatchObject({ expires_at_ms: T0 + 30 * MINUTE });
    // One that waits for as long as it takes.
    const other = watch(rule('hitl_required')).rules;
    expect(other.observe(person(0, true, 's1'))[0]?.detail).not.toHaveProperty('expires_at_ms');
    expect(other.observe(person(MINUTE, true, 's2', T0 + 31 * MINUTE))[0]?.detail).toMatchObject({
      expires_at_ms: T0 + 31 * MINUTE,
    });
  });

  it('is quiet for no longer than its cooldown though the clock was ahead at its last notice, and is set back', () => {
    const { rules } = watch(rule('hitl_required', { cooldown_s: 300, repeat_s: 3_600 }));
    rules.observe(person(60 * MINUTE, true));
    expect(rules.tick(T0)).toEqual([]);
    expect(rules.observe(person(1_000, true, 's2'))).toEqual([]);
    expect(phases(rules.tick(T0 + 5 * MINUTE))).toEqual(['firing']);
    expect(rules.tick(T0 + 60 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 65 * MINUTE))).toEqual(['repeat']);
  });

  it('has its cooldown behind it though the clock was ahead at its last notice, and was set back long ago', () => {
    const { rules } = watch(rule('hitl_required', { cooldown_s: 300 }));
    rules.observe(person(60 * MINUTE, true));
    expect(phases(rules.observe(person(61 * MINUTE, false)))).toEqual(['recovered']);
    expect(rules.tick(T0)).toEqual([]);
    expect(rules.observe(person(4 * MINUTE, true))).toEqual([]);
    rules.observe(person(4 * MINUTE, false));
    expect(phases(rules.observe(person(5 * MINUTE, true)))).toEqual(['firing']);
  });

  it('is repeated once when the clock goes a day ahead, and from then on as before', () => {
    const { rules } = watch(rule('hitl_required', { cooldown_s: 300, repeat_s: 3_600 }));
    rules.observe(person(0, true));
    const day = 24 * 60 * MINUTE;
    expect(phases(rules.tick(T0 + day))).toEqual(['repeat']);
    expect(rules.tick(T0 + day + 59 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + day + 60 * MINUTE))).toEqual(['repeat']);
  });

  it('tells together of sessions that begin to wait while it is quiet, and never of one that is over by then', () => {
    const { rules } = watch(rule('hitl_required', { cooldown_s: 300 }));
    rules.observe(person(0, true));
    for (const sessionId of ['s2', 's3', 's4'])
      expect(rules.observe(person(1_000, true, sessionId))).toEqual([]);
    rules.observe(person(2_000, false, 's3'));
    expect(rules.tick(T0 + 5 * MINUTE)).toMatchObject([
      { phase: 'firing', detail: { new_session_count: 2, newest_session_ids: ['s4', 's2', 's1'] } },
    ]);
  });

  it('goes on while any session waits, also one beyond the hundred that it lists', () => {
    const { rules } = watch(rule('hitl_required'));
    for (let n = 0; n <= 100; n += 1) rules.observe(person(n, true, `s${n}`));
    const over = Array.from({ length: 100 }, (_, n) => rules.observe(person(1_000 + n, false, `s${n}`)));
    expect(phases(over.flat())).not.toContain('recovered');
    expect(phases(rules.observe(person(2_000, false, 's100')))).toEqual(['recovered']);
  });

  it('tells after a restart of a wait that nobody heard of', () => {
    const { rules } = watch(rule('hitl_required'));
    rules.prime(person(0, true));
    expect(phases(rules.untold(T0 + MINUTE))).toEqual(['firing']);
  });
});

describe('a session that goes into a loop while another one of its agent is in one', () => {
  const EACH = { cooldown_s: 0 };
  const loops = (rules: AlertRules, atMs: number, from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) =>
      rules.observe(label(atMs, 'loop', `s${from + n}`)),
    ).flat();
  const told = (due: DueNotice[]) =>
    due.map(({ phase, session_id, detail }) => [phase, session_id, detail.new_session_count]);

  it('is told at once, by its name', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 300 }));
    loops(rules, 0, 1, 1);
    const [second, ...more] = loops(rules, 6 * MINUTE, 2, 2);
    expect(more).toEqual([]);
    expect(second).toMatchObject({
      phase: 'firing',
      session_id: 's2',
      since_ms: T0,
      detail: { loop_session_count: 2, new_session_count: 1, newest_session_ids: ['s2', 's1'] },
    });
    expect(rules.firing('default', 'rule-entropy_loop')).toMatchObject([{ since_ms: T0, notice_count: 2 }]);
  });

  it('waits for the end of the cooldown, and is told together with the others that wait', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 300 }));
    expect(told(loops(rules, 0, 1, 50))).toEqual([['firing', 's1', 1]]);
    expect(rules.tick(T0 + 300_000 - 1)).toEqual([]);
    const due = rules.tick(T0 + 300_000);
    expect(told(due)).toEqual([['firing', 's50', 49]]);
    expect(due[0]?.detail).toMatchObject({
      loop_session_count: 50,
      newest_session_ids: ['s50', 's49', 's48', 's47', 's46'],
    });
    expect(rules.tick(T0 + 600_000 - 1)).toEqual([]);
  });

  it('is told together with others also where a rule has no cooldown', () => {
    const { rules } = watch(rule('entropy_loop', EACH));
    expect(told(loops(rules, 0, 1, 50))).toEqual([
      ['firing', 's1', 1],
      ['firing', 's2', 1],
    ]);
    expect(rules.tick(T0 + NEWS_GAP_MS - 1)).toEqual([]);
    expect(told(rules.tick(T0 + NEWS_GAP_MS))).toEqual([['firing', 's50', 48]]);
    expect(rules.tick(T0 + 2 * NEWS_GAP_MS)).toEqual([]);
  });

  it('is not told when it is over before its turn, and told again when it comes back', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 60 }));
    loops(rules, 0, 1, 2);
    rules.observe(label(1_000, 'normal', 's2'));
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    expect(told(loops(rules, MINUTE, 2, 2))).toEqual([['firing', 's2', 1]]);
    rules.observe(label(MINUTE + 1, 'normal', 's2'));
    expect(told(loops(rules, 3 * MINUTE, 2, 2))).toEqual([['firing', 's2', 1]]);
  });

  it('is told when the first one ends, and the end is that of the last', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 60 }));
    loops(rules, 0, 1, 2);
    expect(rules.observe(label(1_000, 'normal', 's1'))).toEqual([]);
    expect(told(rules.tick(T0 + MINUTE))).toEqual([['firing', 's2', 1]]);
    expect(rules.observe(label(2 * MINUTE, 'normal', 's2'))).toMatchObject([
      { phase: 'recovered', session_id: 's2', since_ms: T0 },
    ]);
  });

  it('waits for the end of a mute', () => {
    const { rules, kept } = watch(rule('entropy_loop', EACH));
    loops(rules, 0, 1, 1);
    kept.rules = [rule('entropy_loop', { ...EACH, muted_until_ms: T0 + 5 * MINUTE })];
    rules.refresh('default', T0);
    expect(loops(rules, MINUTE, 2, 3)).toEqual([]);
    expect(rules.tick(T0 + 5 * MINUTE - 1)).toEqual([]);
    expect(told(rules.tick(T0 + 5 * MINUTE))).toEqual([['firing', 's3', 2]]);
  });

  it('puts the next repeat off, which is counted from the last notice', () => {
    const { rules } = watch(rule('entropy_loop', { ...EACH, repeat_s: 300 }));
    loops(rules, 0, 1, 1);
    loops(rules, 4 * MINUTE, 2, 2);
    expect(rules.tick(T0 + 5 * MINUTE)).toEqual([]);
    expect(told(rules.tick(T0 + 9 * MINUTE))).toEqual([['repeat', 's2', 0]]);
  });

  it('is told after a restart if it was not before it, and the others are not told twice', () => {
    const before = watch(rule('entropy_loop', { cooldown_s: 300 }));
    loops(before.rules, 0, 1, 2);
    const states = before.rules.states('default', 'rule-entropy_loop');
    expect(states).toMatchObject([{ notice_count: 1, told_session_ids: ['s1'] }]);

    const { rules } = watch(rule('entropy_loop', { cooldown_s: 300 }));
    for (const sessionId of ['s2', 's1']) rules.prime(label(0, 'loop', sessionId));
    rules.restore('default', 'rule-entropy_loop', states);
    expect(rules.untold(T0 + MINUTE)).toEqual([]);
    expect(told(rules.tick(T0 + 5 * MINUTE))).toEqual([['firing', 's2', 1]]);
    expect(rules.tick(T0 + 9 * MINUTE)).toEqual([]);
  });

  it('is listed from then on where there is room, and neither listed nor told before', () => {
    const { rules } = watch(rule('entropy_loop', EACH));
    loops(rules, 0, 1, LOOPING_SESSIONS_PER_AGENT_MAX);
    rules.tick(T0 + MINUTE);
    const beyond = `s${LOOPING_SESSIONS_PER_AGENT_MAX + 1}`;
    for (const atMs of [2 * MINUTE, 3 * MINUTE]) {
      expect(rules.observe(label(atMs, 'loop', beyond))).toEqual([]);
      expect(rules.tick(T0 + atMs)).toEqual([]);
    }
    rules.observe(label(4 * MINUTE, 'normal', 's1'));
    const [due] = rules.observe(label(5 * MINUTE, 'loop', beyond));
    expect(due).toMatchObject({
      session_id: beyond,
      detail: { loop_session_count: LOOPING_SESSIONS_PER_AGENT_MAX, new_session_count: 1 },
    });
  });
});

describe('a session that two agents share', () => {
  const by = (agent_id: string, event: AlertEvent): AlertEvent => ({ ...event, agent_id });

  it.each([
    ['a step of the other takes it out of its loop', step(1_000)],
    ['the other makes its last step', step(1_000, { severity: 'loop', ended: true })],
    ['somebody ends it, who knows of the other only', label(1_000, 'normal')],
  ])('is over for the first when %s', (_, event) => {
    const { rules } = watch(rule('entropy_loop'));
    rules.observe(by('first', step(0, { severity: 'loop' })));
    expect(rules.observe(by('second', event))).toMatchObject([
      { phase: 'recovered', agent_id: 'first', session_id: 's1' },
    ]);
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    expect(phases(rules.observe(by('first', label(2_000, 'loop', 's2'))))).toEqual(['firing']);
  });

  it('is a loop of both when both go on in it, until it is over for both', () => {
    const { rules } = watch(rule('entropy_loop'));
    rules.observe(by('first', step(0, { severity: 'loop' })));
    expect(phases(rules.observe(by('second', step(1_000, { severity: 'loop' }))))).toEqual(['firing']);
    const over = rules.observe(by('second', step(2_000)));
    expect(over.map(({ phase, agent_id }) => [phase, agent_id])).toEqual([
      ['recovered', 'first'],
      ['recovered', 'second'],
    ]);
  });

  it('is another one than that of the same name in another tenant', () => {
    const { rules } = watch(rule('entropy_loop'));
    rules.observe(step(0, { severity: 'loop' }));
    expect(rules.observe({ ...by('second', step(1_000)), tenant_id: 'other' })).toEqual([]);
    expect(rules.firing('default', 'rule-entropy_loop')).toHaveLength(1);
  });
});

describe('a session that is left in a loop', () => {
  it('is in it no more once unheard of for ten minutes, and the next loop is told', () => {
    const { rules } = watch(rule('entropy_loop'));
    rules.observe(step(0, { severity: 'loop' }));
    expect(rules.tick(T0 + 10 * MINUTE - 1)).toEqual([]);
    expect(rules.tick(T0 + 10 * MINUTE)).toMatchObject([{ phase: 'recovered', session_id: 's1' }]);
    expect(phases(rules.observe(label(11 * MINUTE, 'loop', 's2')))).toEqual(['firing']);
  });

  it('stays in it as long as it takes a step now and then', () => {
    const { rules } = watch(rule('entropy_loop'));
    for (let n = 0; n < 4; n += 1) rules.observe(step(n * 9 * MINUTE, { severity: 'loop' }));
    expect(rules.tick(T0 + 36 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 37 * MINUTE))).toEqual(['recovered']);
  });

  it('does not stand for another one of its agent, and goes into it anew when it comes back', () => {
    const { rules } = watch(rule('entropy_loop'));
    rules.observe(step(0, { severity: 'loop' }));
    rules.observe(label(9 * MINUTE, 'loop', 's2'));
    expect(phases(rules.observe(label(12 * MINUTE, 'normal', 's2')))).toEqual(['recovered']);
    expect(phases(rules.observe(step(13 * MINUTE, { severity: 'loop' })))).toEqual(['firing']);
  });
});

describe('a budget rule', () => {
  it('fires at its threshold, 80 % by default, and is over below it', () => {
    const { rules } = watch(rule('budget'));
    expect(rules.observe(spend(0, 7.99))).toEqual([]);
    expect(rules.observe(spend(1, 8))).toMatchObject([
      {
        phase: 'firing',
        detail: { period: 'day', spent_usd: 8, budget_usd: 10, share: 0.8, threshold: 0.8 },
      },
    ]);
    expect(phases(rules.observe(spend(2, 5)))).toEqual(['recovered']);
  });

  const refusal = (atMs: number, spentUsd: number, period: Period): AlertEvent => ({
    ...spend(atMs, spentUsd, period),
    refused: period,
  });

  it('fires when a call is refused, however little is spent, and goes on until the period is over', () => {
    const { rules } = watch(rule('budget'));
    expect(rules.observe(spendOf(0, spent(3, 'day'), spent(5, 'month')))).toEqual([]);
    expect(rules.observe(refusal(1, 3, 'day'))).toMatchObject([
      { phase: 'firing', detail: { period: 'day', spent_usd: 3, share: 0.3, refused: true } },
    ]);
    // A smaller call goes through: the day's budget is no larger for that.
    expect(rules.observe(spend(2, 4))).toEqual([]);
    expect(rules.tick(T0 + 11 * 60 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 12 * 60 * MINUTE))).toEqual(['recovered']);
  });

  it('says also of an agent that was told to be near its end that calls are refused, once', () => {
    const before = watch(rule('budget', { cooldown_s: 300 }));
    const { rules } = before;
    expect(phases(rules.observe(spend(0, 8)))).toEqual(['firing']);
    expect(rules.observe(refusal(MINUTE, 9.9, 'day'))).toEqual([]);
    expect(rules.tick(T0 + 5 * MINUTE)).toMatchObject([{ phase: 'firing', detail: { refused: true } }]);
    expect(rules.observe(refusal(20 * MINUTE, 9.9, 'day'))).toEqual([]);
    expect(restarted(before).observe(refusal(30 * MINUTE, 9.9, 'day'))).toEqual([]);
  });

  it('is over an hour after the last call that the budget of an hour refused', () => {
    const { rules } = watch(rule('budget'));
    rules.observe(refusal(0, 3, 'hour'));
    expect(rules.observe(refusal(30 * MINUTE, 3, 'hour'))).toEqual([]);
    expect(rules.tick(T0 + 89 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 90 * MINUTE))).toEqual(['recovered']);
  });

  it('is over when the budget that refused a call is made larger', () => {
    const { rules } = watch(rule('budget'));
    rules.observe(refusal(0, 3, 'day'));
    const larger = { ...spent(3, 'day'), budget_usd: 20 };
    expect(phases(rules.observe(spendOf(1, larger)))).toEqual(['recovered']);
  });

  /** What a second process knows that was started on what the first has kept. */
  const restarted = ({ rules: before }: ReturnType<typeof watch>) => {
    const { rules } = watch(rule('budget'));
    rules.restore('default', 'rule-budget', before.states('default', 'rule-budget'));
    return rules;
  };

  it('knows after a restart that a call was refused: it neither ends with a smaller one, nor fires again', () => {
    const before = watch(rule('budget'));
    before.rules.observe(refusal(0, 3, 'day'));
    const rules = restarted(before);
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    expect(rules.observe(spend(2 * MINUTE, 3.1))).toEqual([]);
    expect(rules.observe(refusal(3 * MINUTE, 3.1, 'day'))).toEqual([]);
    expect(phases(rules.tick(T0 + 12 * 60 * MINUTE))).toEqual(['recovered']);
  });

  it('says after a restart what was refused, and no more is known once the period is over', () => {
    const before = watch(rule('budget'));
    before.rules.observe(spendOf(0, spent(9, 'month')));
    before.rules.observe({ ...spendOf(1, spent(2, 'hour'), spent(9, 'month')), refused: 'hour' });
    const { rules } = watch(rule('budget', { repeat_s: 60 }));
    rules.restore('default', 'rule-budget', before.rules.states('default', 'rule-budget'));
    expect(rules.tick(T0 + MINUTE + 1)).toMatchObject([
      { phase: 'repeat', detail: { period: 'hour', spent_usd: 2, refused: true } },
    ]);
    expect(phases(rules.tick(T0 + 61 * MINUTE))).toEqual(['repeat']);
    expect(rules.observe(spendOf(62 * MINUTE - 1_000, spent(0, 'hour'), spent(9, 'month')))).toEqual([]);
    expect(rules.firing('default', 'rule-budget')).toHaveLength(1);
  });

  it('is kept with its latest refusal, but not with each', () => {
    const before = watch(rule('budget'));
    for (let n = 0; n < 50; n += 1) before.rules.observe(refusal(n * MINUTE, 3, 'hour'));
    before.rules.takeChanged();
    before.rules.observe(refusal(50 * MINUTE, 3, 'hour'));
    expect(before.rules.takeChanged()).toHaveLength(1);
    before.rules.observe(refusal(50 * MINUTE + 1_000, 3, 'hour'));
    before.rules.observe(spend(50 * MINUTE + 2_000, 3, 'hour'));
    expect(before.rules.takeChanged()).toEqual([]);
    const rules = restarted(before);
    expect(rules.observe(spend(110 * MINUTE, 0, 'hour'))).toEqual([]);
    expect(phases(rules.tick(T0 + 110 * MINUTE + 1_000))).toEqual(['recovered']);
  });

  it('ends after a restart when the budget that refused a call is made larger', () => {
    const before = watch(rule('budget'));
    before.rules.observe(refusal(0, 3, 'day'));
    const larger = { ...spent(3, 'day'), budget_usd: 20 };
    expect(phases(restarted(before).observe(spendOf(MINUTE, larger)))).toEqual(['recovered']);
  });

  it('looks at the fullest of several budgets', () => {
    const { rules } = watch(rule('budget', { threshold: 0.9 }));
    const event = spendOf(0, spent(9.5, 'hour'), spent(2, 'month'));
    expect(rules.observe(event)).toMatchObject([{ detail: { period: 'hour' } }]);
  });

  it('is over when the budget that is spent is taken away, or the last one', () => {
    const { rules } = watch(rule('budget'));
    expect(phases(rules.observe(spendOf(0, spent(1, 'hour'), spent(9, 'month'))))).toEqual(['firing']);
    expect(phases(rules.observe(spendOf(1, spent(1, 'hour'))))).toEqual(['recovered']);
    expect(phases(rules.observe(spendOf(2, spent(9, 'month'))))).toEqual(['firing']);
    expect(phases(rules.observe(spendOf(3)))).toEqual(['recovered']);
  });

  it('goes on after a restart as soon as anything is known, without being over in between', () => {
    const { rules } = watch(rule('budget'));
    rules.restore('default', 'rule-budget', [kept()]);
    expect(rules.observe(spendOf(1, spent(1, 'hour'), spent(9, 'month')))).toEqual([]);
  });

  it.each([
    ['hour', 59 * MINUTE, 61 * MINUTE],
    ['day', 11 * 60 * MINUTE, 12 * 60 * MINUTE],
    ['month', 16 * 24 * 60 * MINUTE, 17 * 24 * 60 * MINUTE],
  ] as const)('is over when the %s it was spent in is over, without another call', (period, still, over) => {
    const { rules } = watch(rule('budget'));
    rules.observe(spend(0, 9, period));
    expect(rules.tick(T0 + still)).toEqual([]);
    expect(phases(rules.tick(T0 + over))).toEqual(['recovered']);
  });
});

describe('a spend rule', () => {
  const spending = (changes: Partial<RuleSettings> = {}) =>
    watch(rule('spend', { threshold_usd: 5, ...changes }));

  it('fires with the call that reaches its amount in the last hour, and is over without another call', () => {
    const { rules, spent } = spending();
    spent.set('crawler', { hour: 4.99, day: 80, month: 900 });
    expect(rules.observe(call(0, false))).toEqual([]);
    spent.set('crawler', { hour: 5, day: 81, month: 901 });
    expect(rules.observe(call(1, false))).toMatchObject([
      { phase: 'firing', detail: { period: 'hour', spent_usd: 5, threshold_usd: 5 } },
    ]);
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    spent.set('crawler', { hour: 4.5, day: 81, month: 901 });
    expect(phases(rules.tick(T0 + 2 * MINUTE))).toEqual(['recovered']);
  });

  it('goes on after a restart as long as its amount may have been spent in the last hour, and does not begin by that', () => {
    const before = spending();
    before.spent.set('crawler', { hour: 6, day: 6, month: 6 });
    before.rules.observe(call(0, false));
    const { rules, spent } = spending();
    rules.restore('default', 'rule-spend', before.rules.states('default', 'rule-spend'));
    for (const agentId of ['crawler', 'writer'])
      spent.set(agentId, { hour: 4, day: 6, month: 6, hourAtMost: 6 });
    expect([...rules.observe(call(MINUTE, false)), ...rules.observe(call(MINUTE, false, 'writer'))]).toEqual(
      [],
    );
    spent.set('crawler', { hour: 3, day: 6, month: 6, hourAtMost: 4.9 });
    expect(phases(rules.tick(T0 + 2 * MINUTE))).toEqual(['recovered']);
  });

  it.each(['day', 'month'] as const)('goes by the %s where it says so', (period) => {
    const { rules, spent } = spending({ period });
    spent.set('crawler', { hour: 9, day: 4, month: 4 });
    expect(rules.observe(call(0, false))).toEqual([]);
    spent.set('crawler', { hour: 0, day: 0, month: 0, [period]: 6 });
    expect(rules.observe(call(1, false))).toMatchObject([{ detail: { period, spent_usd: 6 } }]);
  });

  it('looks at each agent for itself, and where it names one at no other', () => {
    const all = spending();
    all.spent.set('crawler', { hour: 4, day: 4, month: 4 }).set('writer', { hour: 4, day: 4, month: 4 });
    expect([...all.rules.observe(call(0, false)), ...all.rules.observe(call(1, false, 'writer'))]).toEqual(
      [],
    );
    const one = spending({ agent_id: 'writer' });
    one.spent.set('crawler', { hour: 9, day: 9, month: 9 }).set('writer', { hour: 9, day: 9, month: 9 });
    expect(one.rules.observe(call(0, false))).toEqual([]);
    expect(one.rules.observe(call(1, false, 'writer'))).toMatchObject([{ agent_id: 'writer' }]);
  });

  it('is over when its amount is raised, and fires at once for an agent that is known when it is lowered', () => {
    const { rules, kept, spent } = spending();
    spent.set('crawler', { hour: 6, day: 6, month: 6 });
    expect(phases(rules.observe(call(0, false)))).toEqual(['firing']);
    kept.rules = [rule('spend', { threshold_usd: 7 })];
    expect(phases(rules.refresh('default', T0 + MINUTE))).toEqual(['recovered']);
    kept.rules = [rule('spend', { threshold_usd: 6 })];
    expect(phases(rules.refresh('default', T0 + 2 * MINUTE))).toEqual(['firing']);
  });

  it('goes on over a restart, and ends there by what was spent, though nothing is heard of the agent', () => {
    const before = spending();
    before.spent.set('crawler', { hour: 6, day: 6, month: 6 });
    before.rules.observe(call(0, false));
    const { rules, spent } = spending();
    rules.restore('default', 'rule-spend', before.rules.states('default', 'rule-spend'));
    spent.set('crawler', { hour: 6, day: 6, month: 6 });
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    spent.set('crawler', { hour: 1, day: 6, month: 6 });
    expect(rules.tick(T0 + 2 * MINUTE)).toMatchObject([{ phase: 'recovered', agent_id: 'crawler' }]);
  });
});

describe('a total_spend rule', () => {
  const total = (changes: Partial<RuleSettings> = {}) =>
    watch(rule('total_spend', { threshold_usd: 5, ...changes }));

  it('fires once with the call of whichever agent it is that reaches the amount, and names none', () => {
    const { rules, spent } = total();
    spent.set('crawler', { hour: 9, day: 9, month: 9 });
    spent.set(TOGETHER, { hour: 4.99, day: 9, month: 9 });
    expect(rules.observe(call(0, false))).toEqual([]);
    spent.set(TOGETHER, { hour: 5, day: 9, month: 9 });
    const [due, ...others] = rules.observe(call(1, false, 'writer'));
    expect(due).toMatchObject({ phase: 'firing', agent_id: ALL_AGENTS, detail: { spent_usd: 5 } });
    expect([...others, ...rules.observe(call(2, false))]).toEqual([]);
    expect(rules.firing('default', 'rule-total_spend')).toEqual([
      { agent_id: null, since_ms: T0 + 1, notice_count: 1, acknowledged: null },
    ]);
    spent.set(TOGETHER, { hour: 4.5, day: 9, month: 9 });
    expect(rules.tick(T0 + MINUTE)).toMatchObject([{ phase: 'recovered', agent_id: ALL_AGENTS }]);
  });

  it('goes on over a restart, without any agent being heard of', () => {
    const before = total();
    before.spent.set(TOGETHER, { hour: 6, day: 6, month: 6 });
    before.rules.observe(call(0, false));
    const { rules, spent } = total();
    rules.restore('default', 'rule-total_spend', before.rules.states('default', 'rule-total_spend'));
    spent.set(TOGETHER, { hour: 6, day: 6, month: 6 });
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    spent.set(TOGETHER, { hour: 1, day: 6, month: 6 });
    expect(phases(rules.tick(T0 + 2 * MINUTE))).toEqual(['recovered']);
  });

  it('fires at once where that much is spent when it is made, and is closed when it is removed', () => {
    const { rules, kept, spent } = total({ enabled: false });
    spent.set(TOGETHER, { hour: 6, day: 6, month: 6 });
    rules.observe(call(0, false));
    kept.rules = [rule('total_spend', { threshold_usd: 5 })];
    expect(phases(rules.refresh('default', T0 + MINUTE))).toEqual(['firing']);
    kept.rules = [];
    expect(rules.refresh('default', T0 + 2 * MINUTE)).toMatchObject([
      { phase: 'recovered', agent_id: ALL_AGENTS, detail: { watch_ended: true } },
    ]);
  });
});

describe('a budget of all agents together', () => {
  const spend = (
    at: number,
    agent_id: string,
    spent_usd: number,
    refused: 'day' | null = null,
  ): AlertEvent => ({
    kind: 'spend',
    tenant_id: 'default',
    agent_id,
    session_id: null,
    at_ms: T0 + at,
    budgets: [{ period: 'day', spent_usd, budget_usd: 10 }],
    refused,
  });

  it('is watched by a rule about every agent, apart from theirs, and by none about one', () => {
    const { rules } = watch(rule('budget', { threshold: 0.8 }));
    expect(rules.observe(spend(0, ALL_AGENTS, 7))).toEqual([]);
    expect(rules.observe(spend(1, ALL_AGENTS, 8))).toMatchObject([{ phase: 'firing', agent_id: ALL_AGENTS }]);
    expect(rules.observe(spend(2, 'crawler', 9))).toMatchObject([{ phase: 'firing', agent_id: 'crawler' }]);
    expect(rules.firing('default', 'rule-budget').map(({ agent_id }) => agent_id)).toEqual([null, 'crawler']);
    const one = watch(rule('budget', { threshold: 0.8, agent_id: 'crawler' }));
    expect(one.rules.observe(spend(0, ALL_AGENTS, 10, 'day'))).toEqual([]);
  });

  it('is news to no other rule, and nobody misses it', () => {
    const { rules, kept } = watch(rule('budget', { threshold: 0.8 }));
    rules.observe(spend(0, ALL_AGENTS, 9));
    kept.rules = ['spend', 'error_rate', 'agent_silent', 'kill_switch'].map((type) =>
      rule(type as 'spend', { threshold_usd: 1, window_s: 60 }),
    );
    expect(rules.refresh('default', T0 + 1)).toMatchObject([{ agent_id: ALL_AGENTS, phase: 'recovered' }]);
    expect(rules.tick(T0 + 10 * MINUTE)).toEqual([]);
  });

  it('goes on over a restart', () => {
    const before = watch(rule('budget', { threshold: 0.8 }));
    before.rules.observe(spend(0, ALL_AGENTS, 9, 'day'));
    const { rules } = watch(rule('budget', { threshold: 0.8 }));
    rules.restore('default', 'rule-budget', before.rules.states('default', 'rule-budget'));
    expect(rules.observe(spend(1, ALL_AGENTS, 9))).toEqual([]);
    expect(rules.firing('default', 'rule-budget')).toMatchObject([{ agent_id: null }]);
  });
});

describe('an error_rate rule', () => {
  const failing = (rules: AlertRules, from: number, count: number, everyMs = 100) =>
    Array.from({ length: count }, (_, n) => rules.observe(call(from + n * everyMs, true))).flat();

  it('says nothing of fewer than ten calls, and fires at the tenth', () => {
    const { rules } = watch(rule('error_rate'));
    expect(failing(rules, 0, 9)).toEqual([]);
    expect(rules.observe(call(1_000, true))).toMatchObject([
      { phase: 'firing', detail: { call_count: 10, failure_count: 10, share: 1, window_s: 300 } },
    ]);
  });

  it('fires at exactly half of the calls, and not below', () => {
    const { rules } = watch(rule('error_rate'));
    for (let n = 0; n < 6; n += 1) rules.observe(call(n, false));
    expect(failing(rules, 10, 5)).toEqual([]);
    expect(phases(failing(rules, 600, 1))).toEqual(['firing']);
  });

  it('takes the threshold that the rule names', () => {
    const { rules } = watch(rule('error_rate', { threshold: 0.8 }));
    for (let n = 0; n < 3; n += 1) rules.observe(call(n, false));
    expect(failing(rules, 10, 11)).toEqual([]);
    expect(phases(failing(rules, 2_000, 1))).toEqual(['firing']);
  });

  it('goes on with fewer than ten calls, while any are left that fail', () => {
    const { rules } = watch(rule('error_rate', { window_s: 60 }));
    failing(rules, 0, 5);
    expect(phases(failing(rules, 40_000, 5))).toEqual(['firing']);
    expect(rules.tick(T0 + 70_000)).toEqual([]);
    expect(rules.tick(T0 + 103_000)).toMatchObject([
      { phase: 'recovered', detail: { call_count: 0, share: 0 } },
    ]);
  });

  it('counts what failed before somebody looked at the time', () => {
    const { rules } = watch(rule('error_rate'));
    failing(rules, 0, 5);
    rules.tick(T0 + 10_000);
    expect(phases(failing(rules, 20_000, 5))).toEqual(['firing']);
  });

  it('is over when enough calls succeed', () => {
    const { rules } = watch(rule('error_rate'));
    failing(rules, 0, 10);
    const later = Array.from({ length: 11 }, (_, n) => rules.observe(call(2_000 + n, false)));
    expect(phases(later.flat())).toEqual(['recovered']);
  });

  it('is over when its window has emptied', () => {
    const { rules } = watch(rule('error_rate', { window_s: 60 }));
    failing(rules, 0, 10);
    expect(rules.tick(T0 + 50_000)).toEqual([]);
    expect(phases(rules.tick(T0 + 62_000))).toEqual(['recovered']);
  });

  it('is over a window after a restart, or after its window was changed, when nothing more was heard', () => {
    const before = watch(rule('error_rate', { window_s: 60 }));
    failing(before.rules, 0, 10);
    expect(before.rules.tick(T0 + 50_000)).toEqual([]);
    before.kept.rules = [rule('error_rate', { window_s: 120 })];
    expect(before.rules.refresh('default', T0 + 50_000)).toEqual([]);
    expect(before.rules.tick(T0 + 169_000)).toEqual([]);
    expect(phases(before.rules.tick(T0 + 170_000))).toEqual(['recovered']);

    const { rules } = watch(rule('error_rate', { window_s: 60 }));
    rules.restore('default', 'rule-error_rate', [kept()]);
    expect(rules.tick(T0 + 59_000)).toEqual([]);
    expect(phases(rules.tick(T0 + 60_000))).toEqual(['recovered']);
  });

  it.each([
    ['a restart', () => {}],
    [
      'a change of its window',
      (kept: { rules: RuleSettings[] }) => {
        kept.rules = [rule('error_rate', { window_s: 120 })];
      },
    ],
  ])('goes on after %s until as many calls as a share asks for say something else', (_, change) => {
    const { rules, kept: settings } = watch(rule('error_rate', { window_s: 60 }));
    rules.restore('default', 'rule-error_rate', [kept()]);
    change(settings);
    rules.refresh('default', T0);
    for (let n = 0; n < 9; n += 1) expect(rules.observe(call(n * 100, n > 0))).toEqual([]);
    expect(rules.observe(call(1_000, true))).toEqual([]);
    expect(rules.firing('default', 'rule-error_rate')).toHaveLength(1);
    const good = Array.from({ length: 9 }, (_, n) => rules.observe(call(2_000 + n, false)));
    expect(phases(good.flat())).toEqual(['recovered']);
  });

  it('counts each agent for itself', () => {
    const { rules } = watch(rule('error_rate'));
    failing(rules, 0, 9);
    expect(rules.observe(call(1_000, true, 'other'))).toEqual([]);
  });
});

describe('an agent_silent rule', () => {
  it('fires for an agent that was seen and is not any more, and is over when it is', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    expect(rules.tick(T0 + 599_000)).toEqual([]);
    expect(rules.tick(T0 + 600_000)).toMatchObject([
      { phase: 'firing', detail: { silent_s: 600, last_seen_ms: T0 } },
    ]);
    expect(phases(rules.observe(call(700_000, false)))).toEqual(['recovered']);
  });

  it('fires after a restart for an agent seen before it, once this process has listened for as long', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.prime(step(-60 * MINUTE));
    expect(rules.tick(T0 + 599_000)).toEqual([]);
    expect(rules.tick(T0 + 600_000)).toMatchObject([
      { phase: 'firing', detail: { silent_s: 4_200, last_seen_ms: T0 - 60 * MINUTE } },
    ]);
  });

  it('goes on firing over a restart, without a word', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.prime(step(-60 * MINUTE));
    rules.restore('default', 'rule-agent_silent', [kept({ since_ms: T0 - 50 * MINUTE })]);
    for (const atMs of [1_000, 600_000, 700_000]) expect(rules.tick(T0 + atMs)).toEqual([]);
    expect(phases(rules.observe(call(800_000, false)))).toEqual(['recovered']);
  });

  it('is repeated after a restart that knows no more of the agent, and over when an operator stops it', () => {
    const { rules, bars } = watch(rule('agent_silent', { repeat_s: 60 }));
    rules.restore('default', 'rule-agent_silent', [kept()]);
    expect(phases(rules.tick(T0 + MINUTE))).toEqual(['repeat']);
    bars.set('crawler', 'inactive');
    expect(rules.tick(T0 + MINUTE + 1_000)).toMatchObject([
      { phase: 'recovered', detail: { kept_silent_by: 'inactive' } },
    ]);
  });

  it('does not miss an agent while the session it was last seen in is paused, and gives it the window afterwards', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    rules.notePause('default', 's1', true);
    expect(rules.tick(T0 + 50 * MINUTE)).toEqual([]);
    rules.notePause('default', 's1', false);
    expect(rules.tick(T0 + 59 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 60 * MINUTE))).toEqual(['firing']);
  });

  it('misses an agent that went on elsewhere before it fell silent', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    rules.notePause('default', 's1', true);
    rules.observe({ ...step(1_000), session_id: 's2' });
    expect(phases(rules.tick(T0 + 11 * MINUTE))).toEqual(['firing']);
  });

  it('does not miss an agent whose call is under way or held, or that the kill switch stopped', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(call(0, false));
    rules.observe({ kind: 'call_began', ...subject(1_000), session_id: 's2' });
    rules.observe(call(0, false, 'stopped'));
    rules.observe(incident(1_000, 'stopped'));
    expect(rules.tick(T0 + 50 * MINUTE)).toEqual([]);
    rules.observe(call(50 * MINUTE, false));
    expect(rules.tick(T0 + 60 * MINUTE)).toMatchObject([{ phase: 'firing', agent_id: 'crawler' }]);
  });

  it('does not miss an agent that its policy keeps from calling, and gives it the window afterwards', () => {
    const { rules, bars } = watch(rule('agent_silent'));
    rules.observe(step(0));
    bars.set('crawler', 'outside_hours');
    expect(rules.tick(T0 + 50 * MINUTE)).toEqual([]);
    bars.delete('crawler');
    expect(rules.tick(T0 + 59 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 60 * MINUTE))).toEqual(['firing']);
  });

  it('does not miss an agent whose last session was terminated, until it is seen again', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    rules.noteTerminated('default', new Set(['s1']), T0);
    expect(rules.tick(T0 + 50 * MINUTE)).toEqual([]);
    rules.observe({ ...step(50 * MINUTE), session_id: 's2' });
    expect(phases(rules.tick(T0 + 60 * MINUTE))).toEqual(['firing']);
  });

  it('does not miss an agent whose last session was terminated, for its calls that this ended', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    rules.noteTerminated('default', new Set(['s1']), T0);
    rules.observe(endedCall(1_000));
    expect(rules.tick(T0 + 50 * MINUTE)).toEqual([]);
  });

  it('does not miss an agent of which only the call that was ended with its session was seen', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.noteTerminated('default', new Set(['s1']), T0);
    rules.observe(endedCall(1_000));
    expect(rules.tick(T0 + 50 * MINUTE)).toEqual([]);
  });

  it('misses an agent of which another session was terminated', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    rules.noteTerminated('default', new Set(['s2']), T0);
    rules.noteTerminated('other', new Set(['s1']), T0);
    expect(phases(rules.tick(T0 + 10 * MINUTE))).toEqual(['firing']);
  });

  it.each([
    ['paused', ({ rules }: Watched) => rules.notePause('default', 's1', true)],
    ['terminated', ({ rules }: Watched) => rules.noteTerminated('default', new Set(['s1']), T0)],
    ['inactive', ({ bars }: Watched) => bars.set('crawler', 'inactive')],
    ['outside_hours', ({ bars }: Watched) => bars.set('crawler', 'outside_hours')],
    ['killed', ({ rules }: Watched) => rules.observe(incident(10 * MINUTE + 1_000))],
  ])(
    'is over, and says why, for an agent that is %s then: nobody repeats what is wanted',
    (why, keepSilent) => {
      const watched = watch(rule('agent_silent', { repeat_s: 60 }));
      const { rules } = watched;
      rules.observe(step(0));
      expect(phases(rules.tick(T0 + 10 * MINUTE))).toEqual(['firing']);
      keepSilent(watched);
      expect(rules.tick(T0 + 11 * MINUTE)).toMatchObject([
        { phase: 'recovered', detail: { kept_silent_by: why } },
      ]);
      for (const minutes of [12, 30]) expect(rules.tick(T0 + minutes * MINUTE)).toEqual([]);
    },
  );

  it('fires anew for an agent that stays silent for the window once its session goes on', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    rules.tick(T0 + 10 * MINUTE);
    rules.notePause('default', 's1', true);
    expect(phases(rules.tick(T0 + 11 * MINUTE))).toEqual(['recovered']);
    rules.notePause('default', 's1', false);
    expect(rules.tick(T0 + 20 * MINUTE)).toEqual([]);
    expect(phases(rules.tick(T0 + 21 * MINUTE))).toEqual(['firing']);
  });

  it('is over because it was heard of, where it is and its session is paused in the same moment', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    rules.tick(T0 + 10 * MINUTE);
    rules.notePause('default', 's1', true);
    const [over] = rules.observe(step(10 * MINUTE + 500));
    expect(over).toMatchObject({ phase: 'recovered', detail: { silent_s: 0 } });
    expect(over?.detail).not.toHaveProperty('kept_silent_by');
  });

  it('goes on while a call is under way of which nothing was heard, and is over with its end', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(step(0));
    expect(phases(rules.tick(T0 + 600_000))).toEqual(['firing']);
    expect(rules.observe({ kind: 'call_began', ...subject(700_000) })).toEqual([]);
    expect(rules.tick(T0 + 710_000)).toEqual([]);
    expect(phases(rules.observe(call(800_000, false)))).toEqual(['recovered']);
  });

  it('says nothing of an agent that nobody has seen', () => {
    const { rules } = watch(rule('agent_silent'));
    rules.observe(incident(0));
    expect(rules.tick(T0 + 10_000_000)).toEqual([]);
    rules.observe(reactivated(10_000_000));
    expect(rules.tick(T0 + 20_000_000)).toEqual([]);
  });
});

describe('when people are told', () => {
  it('repeats while it lasts, counted from the last notice', () => {
    const { rules } = watch(rule('kill_switch', { repeat_s: 600 }));
    rules.observe(incident(0));
    expect(rules.tick(T0 + 599_000)).toEqual([]);
    expect(phases(rules.tick(T0 + 600_000))).toEqual(['repeat']);
    expect(rules.tick(T0 + 601_000)).toEqual([]);
    expect(phases(rules.tick(T0 + 1_200_000))).toEqual(['repeat']);
    expect(rules.firing('default', 'rule-kill_switch')).toMatchObject([{ notice_count: 3 }]);
  });

  it('keeps quiet about the same agent within the cooldown, but says that it is over, and later what still lasts', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 300 }));
    const labels = [label(0, 'loop'), label(10_000, 'normal'), label(20_000, 'loop')];
    const due = labels.flatMap((one) => rules.observe(one));
    expect(phases(due)).toEqual(['firing', 'recovered']);
    expect(rules.tick(T0 + 299_000)).toEqual([]);
    expect(phases(rules.tick(T0 + 300_000))).toEqual(['firing']);
  });

  it('does not say that something is over of which nobody was told', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 300 }));
    for (const event of [label(0, 'loop'), label(1_000, 'normal'), label(2_000, 'loop')])
      rules.observe(event);
    expect(rules.observe(label(3_000, 'normal'))).toEqual([]);
  });

  it('has a cooldown for each agent', () => {
    const { rules } = watch(rule('kill_switch', { cooldown_s: 300 }));
    rules.observe(incident(0));
    expect(phases(rules.observe(incident(1, 'other')))).toEqual(['firing']);
  });

  it('fires silently while muted, and says afterwards what still lasts', () => {
    const { rules } = watch(rule('kill_switch', { muted_until_ms: T0 + MINUTE }));
    expect(rules.observe(incident(0))).toEqual([]);
    expect(rules.firing('default', 'rule-kill_switch')).toMatchObject([{ notice_count: 0 }]);
    expect(phases(rules.tick(T0 + MINUTE))).toEqual(['firing']);
  });

  it('says also while muted that what people were told of is over, or their pagers stay open for good', () => {
    const { rules, kept } = watch(rule('kill_switch'));
    rules.observe(incident(0));
    kept.rules = [rule('kill_switch', { muted_until_ms: T0 + 60 * MINUTE })];
    rules.refresh('default', T0 + 1_000);
    expect(phases(rules.observe(reactivated(MINUTE)))).toEqual(['recovered']);
    expect([incident(2 * MINUTE), reactivated(3 * MINUTE)].flatMap((event) => rules.observe(event))).toEqual(
      [],
    );
  });

  it('says nothing of recoveries where nobody wants them', () => {
    const { rules } = watch(rule('kill_switch', { notify_recovery: false }));
    rules.observe(incident(0));
    expect(rules.observe(reactivated(1))).toEqual([]);
  });
});

describe('what somebody has in hand', () => {
  const RULE = 'rule-entropy_loop';
  /** It fires, and Ada has it. */
  function acknowledged(changes: Partial<RuleSettings> = {}) {
    const watched = watch(rule('entropy_loop', { repeat_s: 60, ...changes }));
    watched.rules.observe(label(0, 'loop'));
    watched.rules.takeChanged();
    take(watched, 0);
    return watched;
  }
  const take = ({ rules }: Watched, atMs: number, sinceMs = 0, agentId: string | null = 'crawler') =>
    rules.acknowledge('default', RULE, { agentId, sinceMs: T0 + sinceMs }, { by: 'ada', at_ms: T0 + atMs });

  it('is shown, kept, and not repeated, while the same of another agent is', () => {
    const { rules } = acknowledged();
    expect(rules.takeChanged()).toEqual([{ tenantId: 'default', ruleId: RULE }]);
    rules.observe({ ...label(0, 'loop', 's2'), agent_id: 'other' });
    expect(rules.firing('default', RULE)).toMatchObject([
      { agent_id: 'crawler', acknowledged: { by: 'ada', at_ms: T0 } },
      { agent_id: 'other', acknowledged: null },
    ]);
    expect(rules.tick(T0 + MINUTE)).toMatchObject([{ phase: 'repeat', agent_id: 'other' }]);
  });

  it('is told to who heard of it, once; its return is not, for it is repeated then', () => {
    const watched = watch(rule('entropy_loop', { repeat_s: 60 }));
    const { rules } = watched;
    rules.observe(label(0, 'loop'));
    expect(take(watched, 5_000)).toMatchObject([
      {
        phase: 'acknowledged',
        agent_id: 'crawler',
        session_id: 's1',
        at_ms: T0 + 5_000,
        since_ms: T0,
        detail: { acknowledged_by: 'ada' },
      },
    ]);
    expect(rules.acknowledge('default', RULE, { agentId: 'crawler', sinceMs: T0 }, null)).toEqual([]);
  });

  it('is told to nobody where it is muted, or nobody has heard of it', () => {
    const watched = watch(rule('entropy_loop', { muted_until_ms: T0 + MINUTE }));
    const { rules, kept: known } = watched;
    rules.observe(label(0, 'loop'));
    expect(take(watched, 1_000)).toEqual([]);
    known.rules = [rule('entropy_loop')];
    rules.refresh('default', T0 + 2_000);
    known.rules = [rule('entropy_loop', { muted_until_ms: T0 + MINUTE })];
    rules.refresh('default', T0 + 3_000);
    expect(take(watched, 4_000)).toEqual([]);
    expect(phases(take(watched, MINUTE))).toEqual(['acknowledged']);
  });

  it('is repeated once it is handed back', () => {
    const { rules } = acknowledged();
    expect(rules.tick(T0 + 5 * MINUTE)).toEqual([]);
    rules.acknowledge('default', RULE, { agentId: 'crawler', sinceMs: T0 }, null);
    expect(phases(rules.tick(T0 + 5 * MINUTE + 1_000))).toEqual(['repeat']);
  });

  it('is repeated after a shift: who forgot it would keep it from all', () => {
    const { rules } = acknowledged();
    for (let atMs = MINUTE; atMs < ACKNOWLEDGED_MS_MAX; atMs += MINUTE) {
      rules.observe(label(atMs, 'loop'));
      expect(rules.tick(T0 + atMs)).toEqual([]);
    }
    rules.observe(label(ACKNOWLEDGED_MS_MAX - 1, 'loop'));
    expect(phases(rules.tick(T0 + ACKNOWLEDGED_MS_MAX))).toEqual(['repeat']);
    expect(rules.firing('default', RULE)).toMatchObject([{ acknowledged: null }]);
  });

  it('is repeated after a shift also where the clock was ahead when somebody took it, and is set back', () => {
    const watched = acknowledged();
    const { rules } = watched;
    take(watched, 24 * 60 * MINUTE);
    rules.tick(T0);
    expect(rules.firing('default', RULE)).toMatchObject([{ acknowledged: { by: 'ada', at_ms: T0 } }]);
  });

  it('has news and an end as any other', () => {
    const { rules } = acknowledged();
    expect(phases(rules.observe(label(MINUTE, 'loop', 's2')))).toEqual(['firing']);
    expect(rules.tick(T0 + 2 * MINUTE)).toEqual([]);
    rules.observe(label(2 * MINUTE, 'normal', 's2'));
    expect(phases(rules.observe(label(2 * MINUTE, 'normal')))).toEqual(['recovered']);
  });

  it('is nobody’s when it begins anew', () => {
    const { rules } = acknowledged();
    for (const event of [label(1_000, 'normal'), label(2_000, 'loop')]) rules.observe(event);
    expect(rules.firing('default', RULE)).toMatchObject([{ acknowledged: null }]);
    expect(phases(rules.tick(T0 + 2 * MINUTE))).toEqual(['repeat']);
  });

  it('is not what began anew while somebody took it', () => {
    const watched = watch(rule('entropy_loop', { repeat_s: 60 }));
    const { rules } = watched;
    for (const event of [label(0, 'loop'), label(1_000, 'normal'), label(2_000, 'loop')])
      rules.observe(event);
    rules.takeChanged();
    take(watched, 2_000);
    take(watched, 2_000, 2_000, 'other');
    take(watched, 2_000, 2_000, null);
    expect(rules.firing('default', RULE)).toMatchObject([{ agent_id: 'crawler', acknowledged: null }]);
    expect(rules.takeChanged()).toEqual([]);
  });

  it('stays so over a restart, and where its rule tells other channels', () => {
    const acknowledged = { by: 'ada', at_ms: T0 };
    const { rules, kept: known } = watch(rule('kill_switch', { repeat_s: 60, channel_ids: ['one'] }));
    rules.prime(incident(0));
    rules.restore('default', 'rule-kill_switch', [kept({ told_session_ids: ['inc-1'], acknowledged })]);
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    known.rules = [rule('kill_switch', { repeat_s: 60, channel_ids: ['other'] })];
    expect(phases(rules.refresh('default', T0 + MINUTE))).toEqual(['firing']);
    expect(rules.tick(T0 + 3 * MINUTE)).toEqual([]);
    expect(rules.states('default', 'rule-kill_switch')).toMatchObject([{ acknowledged }]);
  });

  it('may be what all agents spent together', () => {
    const { rules, spent: sums } = watch(rule('total_spend', { threshold_usd: 5, repeat_s: 60 }));
    sums.set(TOGETHER, { hour: 6, day: 6, month: 6 });
    rules.observe(call(0, false));
    rules.acknowledge(
      'default',
      'rule-total_spend',
      { agentId: null, sinceMs: T0 },
      { by: 'ada', at_ms: T0 },
    );
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    expect(rules.firing('default', 'rule-total_spend')).toMatchObject([{ acknowledged: { by: 'ada' } }]);
  });
});

describe('the rules of a tenant', () => {
  it('are its own', () => {
    const { rules } = watch(rule('kill_switch'));
    expect(rules.observe({ ...incident(0), tenant_id: 'other' })).toEqual([]);
    expect(rules.firing('other', 'rule-kill_switch')).toEqual([]);
  });

  it('that was merely looked at are not kept, and take no part of a tick', () => {
    const asked: string[] = [];
    const rules = new AlertRules({
      clock: new FakeClock(T0),
      rulesOf: (tenantId) => {
        asked.push(tenantId);
        return [rule('kill_switch')];
      },
      policyBar: () => null,
      spentUsd: NOTHING_SPENT,
      onBound: () => {},
    });
    expect(rules.firing('named', 'rule-kill_switch')).toEqual([]);
    rules.tick(T0);
    expect(asked).toEqual([]);
  });

  it('concern one agent where they name one', () => {
    const { rules } = watch(rule('kill_switch', { agent_id: 'other' }));
    expect(rules.observe(incident(0))).toEqual([]);
    expect(rules.observe(incident(0, 'other'))).toHaveLength(1);
  });

  it('stop firing when disabled or removed, and go on firing through other changes', () => {
    const { rules, kept } = watch(rule('kill_switch'));
    rules.observe(incident(0));
    kept.rules = [rule('kill_switch', { name: 'renamed' })];
    rules.refresh('default', T0);
    expect(rules.firing('default', 'rule-kill_switch')).toHaveLength(1);
    kept.rules = [rule('kill_switch', { enabled: false })];
    rules.refresh('default', T0);
    expect(rules.firing('default', 'rule-kill_switch')).toEqual([]);
    expect(rules.observe(reactivated(1))).toEqual([]);
  });

  it('close what they told of where they watch it no more: nobody would ever say that it is over', () => {
    const leave = { removed: [], disabled: [{ enabled: false }], 'about another': [{ agent_id: 'other' }] };
    for (const [how, changes] of Object.entries(leave)) {
      const told = rule('kill_switch', { channel_ids: ['pager'] });
      const { rules, kept } = watch(told);
      rules.observe(incident(0));
      kept.rules = changes.map((change) => rule('kill_switch', { ...change, channel_ids: ['chat'] }));
      const due = rules.refresh('default', T0 + MINUTE);
      expect(due, how).toMatchObject([
        {
          rule: told,
          phase: 'recovered',
          agent_id: 'crawler',
          since_ms: T0,
          at_ms: T0 + MINUTE,
          detail: { watch_ended: true },
        },
      ]);
      expect(noticeOf(due[0] as DueNotice, { noticeId: 'n1', publicUrl: null })).toMatchObject({
        title: 'Agent "crawler" is not watched by this rule any more',
        text: 'The rule was removed, switched off or made one about another agent. Whether what it told of 1 min ago goes on is not known.',
      });
      expect(rules.refresh('default', T0 + MINUTE), how).toEqual([]);
    }
  });

  it('close nothing that nobody was told of, or of which nobody wants to hear that it is over', () => {
    for (const quiet of [{ muted_until_ms: T0 + 60 * MINUTE }, { notify_recovery: false }]) {
      const { rules, kept } = watch(rule('kill_switch', quiet));
      rules.observe(incident(0));
      kept.rules = [];
      expect(rules.refresh('default', T0 + MINUTE)).toEqual([]);
    }
  });

  it('see what holds already when they are enabled again, added, or about another agent than before', () => {
    const { rules, kept } = watch(rule('entropy_loop'));
    const change = (...settings: RuleSettings[]) => {
      kept.rules = settings;
      return rules.refresh('default', T0 + 1_000).map(({ rule: { rule_id }, phase }) => [rule_id, phase]);
    };
    rules.observe(step(0, { severity: 'loop' }));
    expect(change(rule('entropy_loop', { enabled: false }))).toEqual([['rule-entropy_loop', 'recovered']]);
    expect(change(rule('entropy_loop'))).toEqual([['rule-entropy_loop', 'firing']]);
    expect(change(rule('entropy_loop', { name: 'renamed' }))).toEqual([]);
    expect(change(rule('entropy_loop', { agent_id: 'other' }))).toEqual([['rule-entropy_loop', 'recovered']]);
    expect(change(rule('entropy_loop', { agent_id: 'crawler' }))).toEqual([['rule-entropy_loop', 'firing']]);
    const added = rule('entropy_loop', { rule_id: 'added' });
    expect(change(rule('entropy_loop', { agent_id: 'crawler' }), added)).toEqual([['added', 'firing']]);
    expect(phases(rules.observe(step(2_000)))).toEqual(['recovered', 'recovered']);
  });

  it('see what holds already, or no more, when their threshold is changed', () => {
    const { rules, kept } = watch(rule('budget'));
    const change = (threshold: number) => {
      kept.rules = [rule('budget', { threshold })];
      return phases(rules.refresh('default', T0 + 1_000));
    };
    expect(rules.observe(spend(0, 6))).toEqual([]);
    expect(change(0.7)).toEqual([]);
    expect(change(0.5)).toEqual(['firing']);
    expect(change(0.7)).toEqual(['recovered']);
  });

  it('tell a channel that is new of what fires, where none of theirs has heard of it', () => {
    const channels = (...channel_ids: string[]) => rule('kill_switch', { channel_ids, cooldown_s: 300 });
    const { rules, kept } = watch(channels());
    const change = (settings: RuleSettings) => {
      kept.rules = [settings];
      return phases(rules.refresh('default', T0 + 1_000));
    };
    rules.observe(incident(0));
    expect(change(channels('chat'))).toEqual(['firing']);
    expect(change(channels('chat', 'mail'))).toEqual([]);
    expect(change(channels('mail'))).toEqual([]);
    expect(change(channels())).toEqual([]);
    expect(change(channels('pager'))).toEqual(['firing']);
    expect(phases(rules.observe(reactivated(2_000)))).toEqual(['recovered']);
  });

  it('keep nothing as firing that a change of theirs has ended', () => {
    const changes = [{ enabled: false }, { agent_id: 'other' }];
    for (const change of changes) {
      const { rules, kept } = watch(rule('entropy_loop'));
      rules.observe(step(0, { severity: 'loop' }));
      rules.takeChanged();
      kept.rules = [rule('entropy_loop', change)];
      rules.refresh('default', T0);
      expect(rules.takeChanged()).toEqual([{ tenantId: 'default', ruleId: 'rule-entropy_loop' }]);
      expect(rules.states('default', 'rule-entropy_loop')).toEqual([]);
    }
  });

  it('go on after a restart without saying anything twice, and say when it is over', () => {
    const before = watch(rule('kill_switch'));
    before.rules.observe(incident(0));
    expect(before.rules.takeChanged()).toEqual([{ tenantId: 'default', ruleId: 'rule-kill_switch' }]);
    expect(before.rules.takeChanged()).toEqual([]);
    const states = before.rules.states('default', 'rule-kill_switch');

    const { rules } = watch(rule('kill_switch'));
    rules.restore('default', 'rule-kill_switch', states);
    rules.prime(incident(0));
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    expect(rules.observe(incident(MINUTE))).toEqual([]);
    expect(phases(rules.observe(reactivated(2 * MINUTE)))).toEqual(['recovered']);
  });

  it('tell after a restart of what stopped an agent that was reactivated in the last moment before it', () => {
    const before = watch(rule('kill_switch', { cooldown_s: 300, notify_recovery: false }));
    before.rules.observe(incident(0));
    const states = before.rules.states('default', 'rule-kill_switch');

    const { rules } = watch(rule('kill_switch', { cooldown_s: 300, notify_recovery: false }));
    const another = { ...incident(2_000), incident_id: 'inc-2' } as AlertEvent;
    rules.prime(another);
    rules.restore('default', 'rule-kill_switch', states);
    expect(phases(rules.observe(another))).toEqual(['firing']);
    expect(rules.firing('default', 'rule-kill_switch')).toMatchObject([{ notice_count: 1 }]);
  });

  it('cool nothing after a restart of an agent that was reactivated in the last moment before it', () => {
    const settings = rule('kill_switch', { cooldown_s: 300 });
    const before = watch(settings);
    before.rules.observe(incident(0));
    const states = before.rules.states('default', 'rule-kill_switch');

    const { rules } = watch(settings);
    rules.restore('default', 'rule-kill_switch', states);
    expect(phases(rules.untold(T0 + 2_000))).toEqual(['recovered']);
    expect(phases(rules.observe(incident(2_001)))).toEqual(['firing']);
  });

  it('keep quiet over a restart for the rest of the cooldown of what was over before it', () => {
    const settings = rule('entropy_loop', { cooldown_s: 300 });
    const before = watch(settings);
    expect(phases(before.rules.observe(label(0, 'loop')))).toEqual(['firing']);
    expect(phases(before.rules.observe(label(1_000, 'normal')))).toEqual(['recovered']);
    const states = before.rules.states('default', 'rule-entropy_loop');

    const { rules } = watch(settings);
    rules.restore('default', 'rule-entropy_loop', states);
    expect(rules.firing('default', 'rule-entropy_loop')).toEqual([]);
    expect(rules.observe(label(2_000, 'loop'))).toEqual([]);
    expect(rules.tick(T0 + 299_000)).toEqual([]);
    expect(phases(rules.tick(T0 + 300_000))).toEqual(['firing']);
  });

  it('keep what is over no longer than it cools', () => {
    const { rules } = watch(rule('entropy_loop', { cooldown_s: 300 }));
    for (const one of [label(0, 'loop'), label(1_000, 'normal')]) rules.observe(one);
    const keptAt = (atMs: number) => {
      rules.observe({ ...label(atMs, 'loop'), agent_id: `agent-${atMs}` });
      return rules.states('default', 'rule-entropy_loop').filter(({ agent_id }) => agent_id === 'crawler')
        .length;
    };
    expect(keptAt(299_000)).toBe(1);
    expect(keptAt(301_000)).toBe(0);
  });

  it('tell a loop after a restart of which nobody was told before it, unless it is long over', () => {
    const { rules } = watch(rule('entropy_loop'));
    rules.prime(step(-MINUTE, { severity: 'loop' }));
    rules.prime({ ...step(-MINUTE, { severity: 'loop' }), agent_id: 'told' });
    rules.prime({ ...step(-11 * MINUTE, { severity: 'loop' }), agent_id: 'gone' });
    rules.restore('default', 'rule-entropy_loop', [kept({ agent_id: 'told', told_session_ids: ['s1'] })]);
    expect(rules.untold(T0).map(({ phase, agent_id }) => [phase, agent_id])).toEqual([['firing', 'crawler']]);
  });

  it('go on after a restart for each agent of a session in a loop, of which only the last is known, and end with it', () => {
    const { rules } = watch(rule('entropy_loop'));
    rules.prime({ ...step(0, { severity: 'loop' }), agent_id: 'last' });
    const told_session_ids = ['s1'];
    const states = ['crawler', 'last'].map((agent_id) => kept({ agent_id, told_session_ids }));
    rules.restore('default', 'rule-entropy_loop', [
      ...states,
      kept({ agent_id: 'over', told_session_ids: ['s2'] }),
    ]);
    expect(rules.untold(T0)).toEqual([]);
    const overNow = (due: DueNotice[]) => due.map(({ phase, agent_id }) => [phase, agent_id]);
    expect(overNow(rules.tick(T0 + 1_000))).toEqual([['recovered', 'over']]);
    expect(overNow(rules.observe({ ...step(2_000), agent_id: 'last' }))).toEqual([
      ['recovered', 'crawler'],
      ['recovered', 'last'],
    ]);
  });

  it('keep what nothing is known of after a restart', () => {
    const { rules } = watch(rule('error_rate'), rule('budget'), rule('agent_silent'));
    for (const type of ['error_rate', 'budget', 'agent_silent'])
      rules.restore('default', `rule-${type}`, [kept()]);
    expect(rules.tick(T0 + MINUTE)).toEqual([]);
    expect(rules.firing('default', 'rule-budget')).toHaveLength(1);
    const typesOf = (due: DueNotice[]) => due.map(({ rule: { type }, phase }) => `${type} ${phase}`);
    expect(typesOf(rules.observe(call(2 * MINUTE, false)))).toEqual(['agent_silent recovered']);
    expect(typesOf(rules.tick(T0 + 5 * MINUTE))).toEqual(['error_rate recovered']);
  });

  it('forget the agent unheard of longest beyond a bound, and count that', () => {
    const { rules, bounds } = watch(rule('kill_switch'));
    rules.observe(incident(0, 'first'));
    for (let n = 0; n < AGENTS_PER_TENANT_MAX; n += 1) rules.observe(call(0, false, `agent-${n}`));
    expect(bounds).toEqual(['agents']);
    expect(rules.firing('default', 'rule-kill_switch')).toEqual([]);
  });
});

describe('a tick that has more to look at than there is time for', () => {
  const AGENT_COUNT = 120;

  /** Of each of two tenants; a look at an agent of `large` takes a millisecond. */
  function silentAgents() {
    const clock = new FakeClock(T0);
    const kept = { rules: [rule('agent_silent', { window_s: 60 })] };
    const bounds: string[] = [];
    const rules = new AlertRules({
      clock,
      rulesOf: () => kept.rules,
      policyBar: (tenantId) => {
        if (tenantId === 'large') clock.advance(1);
        return null;
      },
      spentUsd: NOTHING_SPENT,
      onBound: (bound) => bounds.push(bound),
    });
    const see = (tenant_id: string, agent_id: string) =>
      rules.observe({ kind: 'call', tenant_id, agent_id, session_id: null, at_ms: T0, failed: false });
    for (let n = 0; n < AGENT_COUNT; n += 1) see('large', `a${n}`);
    see('small', 'b');
    clock.advance(2 * MINUTE);
    const tick = () => rules.tick(clock.nowMs()).map(({ tenant_id, agent_id }) => `${tenant_id} ${agent_id}`);
    return { rules, kept, clock, bounds, tick };
  }

  it('ends in time, leaves each tenant its part, and goes on in the next until it has looked at all', () => {
    const { tick, bounds } = silentAgents();
    const first = tick();
    expect(first).toHaveLength(TICK_WORK_MS_MAX / 2 + 1);
    expect(first).toContain('small b');
    expect(bounds).toEqual(['tick']);
    const all = [...first, ...tick(), ...tick()];
    expect(all).toHaveLength(AGENT_COUNT + 1);
    expect(new Set(all).size).toBe(AGENT_COUNT + 1);
    expect(bounds).toEqual(['tick', 'tick']);
  });

  it('does not go on with a rule that is gone', () => {
    const { rules, kept, clock, tick } = silentAgents();
    tick();
    kept.rules = [];
    rules.refresh('large', clock.nowMs());
    expect(tick()).toEqual([]);
  });
});
