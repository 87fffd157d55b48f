import { describe, expect, it } from 'vitest';
import { buildAgent } from './agent.fixture';
import { parseAgentsSearch } from './agents-search';
import {
  budgetShare,
  isFailing,
  isFirstUnderWay,
  isRefused,
  killShare,
  selectAgents,
  spentBudget,
} from './select-agents';

const calm = buildAgent('calm', { last_call_ms: 5 });
const held = buildAgent('held', { held_call_count: 2, held_since_ms: 1 });
const off = buildAgent('off', { policy: { ...calm.policy, active: false, deactivated_by: 'ana' } });
const killed = buildAgent('killed', {
  open_incident_id: 'i1',
  policy: { ...calm.policy, active: false, deactivated_by: 'kill_switch' },
});
const near = buildAgent('near', { kill_switch: { ...calm.kill_switch, live_score: 8.5, threshold: 10 } });
const overBudget = {
  decision: 'over_budget',
  detail: 'This agent has used up its budget.',
  at_ms: 4,
} as const;
const refused = buildAgent('refused', { last_call_ms: 4, latest_refusal: overBudget });
const failing = buildAgent('failing', { last_call_ms: 3, error_rate: 0.94 });
const all = [calm, held, off, killed, near, refused, failing];

describe('selectAgents', () => {
  it('puts first what wants somebody', () => {
    expect(selectAgents(all, {})).toEqual(['killed', 'held', 'refused', 'failing', 'near', 'calm', 'off']);
  });

  it('takes states and parts of names', () => {
    expect(selectAgents(all, { state: 'inactive' })).toEqual(['killed', 'off']);
    expect(selectAgents(all, { state: 'near_limit' })).toEqual(['near']);
    expect(selectAgents(all, { state: 'refused' })).toEqual(['refused']);
    expect(selectAgents(all, { state: 'failing' })).toEqual(['failing']);
    expect(selectAgents(all, { q: ' CAL' })).toEqual(['calm']);
    expect(selectAgents(all, { sort: 'name' })).toEqual([
      'calm',
      'failing',
      'held',
      'killed',
      'near',
      'off',
      'refused',
    ]);
  });
});

describe('isRefused', () => {
  it('is over once a call went through, or an operator changed what the agent may do', () => {
    expect(isRefused(refused)).toBe(true);
    expect(isRefused({ ...refused, last_call_ms: 5 })).toBe(false);
    expect(isRefused({ ...refused, policy: { ...refused.policy, updated_at_ms: 5 } })).toBe(false);
    expect(isRefused(calm)).toBe(false);
  });

  it('is over once an operator changed what all agents may do, or let them run', () => {
    expect(isRefused(refused, 4)).toBe(true);
    expect(isRefused(refused, 5)).toBe(false);
    expect(selectAgents(all, { state: 'refused' }, 5)).toEqual([]);
  });
});

describe('isFailing', () => {
  it('is every other call, of an agent that may call', () => {
    expect(isFailing(failing)).toBe(true);
    expect(isFailing({ ...failing, error_rate: 0.5 })).toBe(true);
    expect(isFailing({ ...failing, error_rate: 0.49 })).toBe(false);
    expect(isFailing({ ...failing, policy: off.policy })).toBe(false);
    expect(isFailing(calm)).toBe(false);
  });
});

describe('spentBudget', () => {
  const spent = (spent_usd: number, budget_usd: number | null) => ({
    spent_usd,
    unpriced_call_count: 0,
    budget_usd,
  });

  it('is the longest budget of which nothing is left, as soon as nothing is, whether a call was refused or not', () => {
    const spend = { hour: spent(1, 1), day: spent(0.99, 1), month: spent(9, null) };
    expect(spentBudget({ ...calm, spend })).toBe('hour');
    expect(spentBudget({ ...calm, spend: { ...spend, day: spent(1, 1) } })).toBe('day');
    expect(spentBudget({ ...calm, spend: { ...spend, hour: spent(0.99, 1) } })).toBeNull();
  });

  it('is none of an agent that may not call at all', () => {
    expect(spentBudget({ ...off, spend: { ...off.spend, month: spent(2, 1) } })).toBeNull();
  });
});

describe('shares', () => {
  it('take the fullest budget, and none as empty', () => {
    expect(budgetShare(calm)).toBe(0);
    const spend = {
      hour: { spent_usd: 1, unpriced_call_count: 0, budget_usd: 10 },
      day: { spent_usd: 9, unpriced_call_count: 0, budget_usd: 10 },
      month: { spent_usd: 40, unpriced_call_count: 0, budget_usd: null },
    };
    expect(budgetShare({ spend })).toBe(0.9);
  });

  it('are zero for a kill switch that is off', () => {
    expect(killShare({ kill_switch: { ...near.kill_switch, enabled: false } })).toBe(0);
  });
});

describe('parseAgentsSearch', () => {
  it('drops unknown values and reads numbers as text', () => {
    expect(parseAgentsSearch({ q: 7, state: 'flying', sort: 'spend' })).toEqual({ q: '7', sort: 'spend' });
  });
});

describe('isFirstUnderWay', () => {
  it('is of who has no call that ended, but one that runs or is held', () => {
    expect(isFirstUnderWay(buildAgent('silent'))).toBe(false);
    expect(isFirstUnderWay(buildAgent('new', { running_call_count: 2 }))).toBe(true);
    expect(isFirstUnderWay(held)).toBe(true);
    expect(isFirstUnderWay(buildAgent('busy', { running_call_count: 1, last_call_ms: 5 }))).toBe(false);
  });
});
