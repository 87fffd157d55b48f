import { describe, expect, it } from 'vitest';
import { auditSummary } from './audit-summary';

const summary = (action: string, detail: Record<string, unknown>, session_id: string | null = null) => {
  const { links, words } = auditSummary({ action, detail, session_id });
  return [...links.map(({ thing, id, label }) => [thing, id, label]), words];
};

describe("an audit entry's summary", () => {
  it('names what was changed, created or revoked', () => {
    expect(summary('config.update', { before: {}, after: { retention_days: 7 } })).toEqual([
      'retention_days = 7',
    ]);
    expect(summary('operator.create', { name: 'ada', role: 'admin' })).toEqual(['ada, admin']);
    expect(summary('agent_key.revoke', { name: 'fleet' })).toEqual(['fleet']);
    expect(summary('hitl.expire', {})).toEqual(['']);
  });

  it('leads to the agent, and says what became of it', () => {
    const agent = ['agent', 'order-bot', 'order-bot'];
    const agent_id = 'order-bot';
    expect(summary('agent.policy', { agent_id, requests_per_minute: 5, reason: 'It hurries' })).toEqual([
      agent,
      'requests_per_minute = 5, It hurries',
    ]);
    expect(summary('agent.reactivate', { agent_id, reason: null })).toEqual([agent, '']);
  });

  it('leads to what holds for all agents', () => {
    const all = ['all_agents', '', 'All agents'];
    expect(summary('agent.deactivate', { all_agents: true, reason: 'Leaked key' })).toEqual([
      all,
      'Leaked key',
    ]);
    expect(summary('agent.policy', { all_agents: true, budget_day_usd: 5 })).toEqual([
      all,
      'budget_day_usd = 5',
    ]);
  });

  it('leads to the incident for which an agent was stopped, in words in place of its id', () => {
    expect(summary('agent.deactivate', { agent_id: 'order-bot', incident_id: 'inc_7' })).toEqual([
      ['agent', 'order-bot', 'order-bot'],
      ['incident', 'inc_7', 'See the incident'],
      '',
    ]);
  });

  it('leads to the session, the rule, the channel and the call that it concerns', () => {
    expect(summary('pause', { reason: 'Let me look' }, 's-1')).toEqual([['session', 's-1', 's-1'], '']);
    const rule = { rule_id: 'rule_1', name: 'Stops' };
    expect(summary('alert_rule.update', { ...rule, before: {}, after: { enabled: false } })).toEqual([
      ['rule', 'rule_1', 'Stops'],
      'enabled = false',
    ]);
    expect(summary('alert_channel.test', { channel_id: 'ch_1', name: 'Night shift' })).toEqual([
      ['channel', 'ch_1', 'Night shift'],
      '',
    ]);
    expect(summary('judge_cache_match', { call_id: 'call_1', key: 'k', verdict: 'wrong' })).toEqual([
      ['call', 'call_1', 'See the call'],
      'wrong',
    ]);
  });

  it('leads to nothing that was deleted', () => {
    expect(summary('alert_rule.delete', { rule_id: 'rule_1', name: 'Stops' })).toEqual(['Stops']);
    expect(summary('alert_channel.delete', { channel_id: 'ch_1', name: 'Night shift' })).toEqual([
      'Night shift',
    ]);
  });
});
