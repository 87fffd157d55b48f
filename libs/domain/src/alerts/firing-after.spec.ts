import { describe, expect, it } from 'vitest';
import type { AlertNotice } from '#contracts';
import { firingAfter, type KeptFiring, type StoredNotice } from './firing-after.js';
import type { FiringState } from './watched-rule.js';

const T0 = Date.UTC(2026, 0, 15, 12);

const fires: FiringState = {
  agent_id: 'crawler',
  since_ms: T0,
  notice_count: 1,
  last_notice_ms: T0,
  told_session_ids: ['s1'],
  acknowledged: null,
  refusals: [],
};
const kept = (...states: FiringState[]): KeptFiring[] => [
  { tenantId: 'default', ruleId: 'rule', states, asOfSeq: 1, asOfMs: T0 },
];

const stored = (seq: number, changes: Partial<AlertNotice>, channel_id = 'chn'): StoredNotice => ({
  notice: {
    notice_id: `ntc_${seq}`,
    rule_id: 'rule',
    rule_name: 'Rule',
    type: 'entropy_loop',
    tenant_id: 'default',
    agent_id: 'crawler',
    session_id: null,
    phase: 'firing',
    title: '',
    text: '',
    at_ms: T0 + seq * 1_000,
    url: null,
    ...changes,
    detail: { since_ms: T0, ...changes.detail },
  },
  channel_id,
  created_at_ms: T0 + seq * 1_000,
  seq,
});

/** What fires of the one rule, where these notices are newer than what was kept of it. */
const firesAfter = (states: FiringState[], ...newestFirst: StoredNotice[]) =>
  firingAfter(kept(...states), newestFirst, () => ['chn'])[0]?.states;

const countsOf = (states: readonly FiringState[] | undefined) => states?.map((state) => state.notice_count);

describe('what fires after a process that told more than it kept', () => {
  it('goes on cooling where the notice says that it is over', () => {
    expect(firesAfter([fires], stored(2, { phase: 'recovered' }))).toEqual([
      { ...fires, since_ms: null, notice_count: 0, told_session_ids: [] },
    ]);
  });

  it('is forgotten of an agent that an operator reactivated: what stops it next is news', () => {
    expect(firesAfter([fires], stored(2, { phase: 'recovered', type: 'kill_switch' }))).toEqual([]);
  });

  it('counts a notice once that is there for each channel, and none that is not', () => {
    const again = { notice_id: 'ntc_again', at_ms: T0 + 2_000 };
    const [one, other] = [stored(2, again), stored(3, again, 'other')];
    const withBoth = (...newestFirst: StoredNotice[]) =>
      firingAfter(kept(fires), newestFirst, () => ['chn', 'other'])[0]?.states;
    expect(countsOf(withBoth(other, one))).toEqual([2]);
    for (const half of [one, other]) expect(countsOf(withBoth(half))).toEqual([1]);
  });

  it('knows the sessions that people heard of before, and those that the notice names', () => {
    const [state] = firesAfter([fires], stored(2, { detail: { newest_session_ids: ['s2'] } })) ?? [];
    expect(state).toMatchObject({ since_ms: T0, notice_count: 2, told_session_ids: ['s1', 's2'] });
  });

  it('is in the same hands as before, unless it was over meanwhile', () => {
    const taken = { ...fires, acknowledged: { by: 'ada', at_ms: T0 } };
    expect(firesAfter([taken], stored(2, {}))).toMatchObject([
      { notice_count: 2, acknowledged: { by: 'ada' } },
    ]);
    const detail = { since_ms: T0 + 1_500 };
    expect(firesAfter([taken], stored(2, { detail }))).toMatchObject([{ acknowledged: null }]);
    expect(firesAfter([taken], stored(2, { phase: 'recovered' }))).toMatchObject([{ acknowledged: null }]);
  });

  it('is in the hands of whom the notice names, where it is of the same firing', () => {
    const detail = { acknowledged_by: 'ada' };
    const taken = { ...fires, acknowledged: { by: 'ada', at_ms: T0 + 2_000 } };
    expect(firesAfter([fires], stored(2, { phase: 'acknowledged', detail }))).toEqual([taken]);
    const ofAnother = { ...detail, since_ms: T0 - 1 };
    expect(firesAfter([fires], stored(2, { phase: 'acknowledged', detail: ofAnother }))).toEqual([fires]);
    expect(firesAfter([], stored(2, { phase: 'acknowledged', detail }))).toEqual([]);
  });

  it('fires anew where what it fired was over meanwhile, and nobody is told so', () => {
    const detail = { since_ms: T0 + 1_500, newest_session_ids: ['s2'] };
    const [state] = firesAfter([fires], stored(2, { detail })) ?? [];
    expect(state).toMatchObject({ since_ms: T0 + 1_500, notice_count: 1, told_session_ids: ['s2'] });
  });

  it('knows of the budget that refused a call, and that people heard of it', () => {
    const detail = { refused: true, period: 'day', spent_usd: 4.5, budget_usd: 5 };
    const heard = firesAfter([], stored(2, { type: 'budget', detail }));
    const refusal = {
      period: 'day',
      spent_usd: 4.5,
      budget_usd: 5,
      at_ms: T0 + 2_000,
      refused_at_ms: T0 + 2_000,
    };
    expect(heard).toMatchObject([{ told_session_ids: ['refusal'], refusals: [refusal] }]);
    const near = firesAfter([], stored(2, { type: 'budget', detail: { ...detail, refused: false } }));
    expect(near).toMatchObject([{ told_session_ids: [], refusals: [] }]);
  });
});
