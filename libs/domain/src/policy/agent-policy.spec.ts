import { describe, expect, it } from 'vitest';
import { agentPolicySchema, KILL_SWITCH_ACTOR } from '#contracts';
import { applyPolicyPatch, defaultPolicy } from './agent-policy.js';

describe('applyPolicyPatch', () => {
  it('begins with an active agent without limits', () => {
    expect(agentPolicySchema.parse(defaultPolicy('agent-1'))).toMatchObject({
      agent_id: 'agent-1',
      active: true,
      requests_per_minute: null,
      updated_by: null,
    });
  });

  it('sets what is given, lifts what is null, leaves the rest, and says who and when', () => {
    const first = applyPolicyPatch(
      defaultPolicy('a'),
      { requests_per_minute: 5, budget_day_usd: 2 },
      'ada',
      10,
    );
    const second = applyPolicyPatch(first, { budget_day_usd: null, tokens_per_minute: undefined }, 'bob', 20);
    expect(second).toMatchObject({
      active: true,
      requests_per_minute: 5,
      budget_day_usd: null,
      tokens_per_minute: null,
      updated_by: 'bob',
      updated_at_ms: 20,
    });
    expect(first.budget_day_usd).toBe(2);
  });

  it('keeps who deactivated an agent until it is activated again', () => {
    const killed = applyPolicyPatch(
      defaultPolicy('a'),
      { active: false, reason: 'loop' },
      KILL_SWITCH_ACTOR,
      10,
    );
    const again = applyPolicyPatch(killed, { active: false }, 'ada', 20);
    expect(again).toMatchObject({
      active: false,
      deactivated_by: KILL_SWITCH_ACTOR,
      deactivated_at_ms: 10,
      deactivated_reason: 'loop',
      updated_by: 'ada',
    });
    expect(applyPolicyPatch(again, { active: false, reason: 'seen' }, 'ada', 30).deactivated_reason).toBe(
      'seen',
    );
    expect(applyPolicyPatch(again, { active: true }, 'ada', 40)).toMatchObject({
      active: true,
      deactivated_by: null,
      deactivated_at_ms: null,
      deactivated_reason: null,
    });
  });

  it('stores no member that a policy does not have', () => {
    const policy = applyPolicyPatch(defaultPolicy('a'), { active: false, reason: 'r' }, 'ada', 10);
    expect(Object.keys(policy).sort()).toEqual(Object.keys(agentPolicySchema.shape).sort());
  });
});
