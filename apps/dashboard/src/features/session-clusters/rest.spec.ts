import { describe, expect, it } from 'vitest';
import type { CallDecision, ControlMode, SessionView } from '#contracts';
import { buildAgent, buildStoppedAgent } from '../agents/agent.fixture';
import { buildPolicies } from './policies.fixture';
import { dotState, restOf, stoppedAgentOf } from './rest';

const STOPPED_AT_MS = 100;
const refusedAs = (decision: CallDecision) => ({
  last_call_ms: STOPPED_AT_MS,
  latest_refusal: { decision, detail: null, at_ms: STOPPED_AT_MS },
});
const changedAt = (agentId: string, updated_at_ms: number) => {
  const agent = buildAgent(agentId);
  return { ...agent, policy: { ...agent.policy, updated_at_ms } };
};
const AGENTS = [
  buildAgent('running'),
  buildStoppedAgent('killed', 'kill_switch', STOPPED_AT_MS),
  buildStoppedAgent('off', 'ana', STOPPED_AT_MS),
  buildAgent('spent', refusedAs('over_budget')),
  buildAgent('too-early', refusedAs('outside_hours')),
  buildAgent('hasty', refusedAs('rate_limited')),
  buildAgent('capped', refusedAs('session_capped')),
  changedAt('raised', STOPPED_AT_MS + 1),
  buildAgent('refilled', { ...refusedAs('over_budget'), last_call_ms: STOPPED_AT_MS + 1 }),
];
const policies = buildPolicies(AGENTS);
const looping = (agent_id: string, mode: ControlMode = 'enforced', more: Partial<SessionView> = {}) =>
  ({
    agent_id,
    severity: 'loop',
    state: 'alert_entropy',
    last_seen_ms: STOPPED_AT_MS + 1,
    refused_call: null,
    control: { state: 'active', mode },
    ...more,
  }) as SessionView;

describe('a looping session', () => {
  it('burns while nothing stops it, also before its row or its agent is known', () => {
    expect(restOf(undefined, policies)).toBeNull();
    expect(restOf(looping('running'), policies)).toBeNull();
    expect(restOf(looping('unknown'), policies)).toBeNull();
  });

  it('rests while an operator holds it, whatever else is so', () => {
    const control = { state: 'pause_requested', mode: 'enforced' } as SessionView['control'];
    expect(restOf(looping('killed', 'enforced', { control, state: 'idle' }), policies)).toBe('held');
  });

  it('burns on under a pause that its agent never heard of', () => {
    for (const state of ['pause_requested', 'expired'] as const) {
      const control = { state, mode: 'observe_only' } as SessionView['control'];
      expect(restOf(looping('running', 'observe_only', { control }), policies)).toBeNull();
    }
    const heard = { state: 'paused', mode: 'cooperative' } as SessionView['control'];
    expect(restOf(looping('running', 'cooperative', { control: heard }), policies)).toBe('held');
  });

  it('rests once its agent is killed or deactivated, if its calls go through the proxy', () => {
    expect(restOf(looping('killed'), policies)).toBe('agent_killed');
    expect(restOf(looping('off'), policies)).toBe('agent_off');
  });

  it('burns on where an agent that works without the proxy goes on after it was deactivated', () => {
    for (const mode of ['cooperative', 'observe_only'] as const) {
      expect(restOf(looping('off', mode), policies)).toBeNull();
      expect(restOf(looping('off', mode, { last_seen_ms: STOPPED_AT_MS }), policies)).toBe('agent_off');
    }
  });

  it('rests while all agents are stopped, if its calls go through the proxy, also where nobody knows its agent', () => {
    const stopped = buildPolicies(AGENTS, { active: false, deactivated_at_ms: STOPPED_AT_MS });
    expect(restOf(looping('running'), stopped)).toBe('all_stopped');
    expect(restOf(looping('unknown'), stopped)).toBe('all_stopped');
    expect(restOf(looping('spent'), stopped)).toBe('all_stopped');
    expect(restOf(looping('killed'), stopped)).toBe('agent_killed');
    for (const mode of ['cooperative', 'observe_only'] as const)
      expect(restOf(looping('running', mode, { last_seen_ms: STOPPED_AT_MS }), stopped)).toBeNull();
    expect(restOf(looping('running'), buildPolicies(AGENTS, { active: true }))).toBeNull();
  });

  it('rests when the gateway calls it idle; one that never looped is not silent by that', () => {
    expect(restOf(looping('running', 'enforced', { state: 'idle' }), policies)).toBe('silent');
    expect(
      restOf(looping('running', 'enforced', { state: 'idle', severity: 'normal' }), policies),
    ).toBeNull();
  });
});

describe('the agent of a session', () => {
  it('is stopped whether its session loops or not', () => {
    const calm = { severity: 'normal', state: 'active' } as const;
    expect(stoppedAgentOf(looping('killed', 'enforced', calm), policies)).toBe('agent_killed');
    expect(stoppedAgentOf(looping('off', 'enforced', calm), policies)).toBe('agent_off');
    expect(stoppedAgentOf(looping('running', 'enforced', calm), policies)).toBeNull();
    expect(stoppedAgentOf(looping('unknown', 'enforced', calm), policies)).toBeNull();
  });

  it('may be out of budget or out of its hours, until a call of its goes through again', () => {
    expect(stoppedAgentOf(looping('spent'), policies)).toBe('agent_over_budget');
    expect(stoppedAgentOf(looping('too-early'), policies)).toBe('agent_out_of_hours');
    expect(stoppedAgentOf(looping('refilled'), policies)).toBeNull();
    expect(restOf(looping('spent'), policies)).toBe('agent_over_budget');
  });

  it('is at work where it only calls too often, or works without the proxy', () => {
    expect(stoppedAgentOf(looping('hasty'), policies)).toBeNull();
    expect(stoppedAgentOf(looping('spent', 'cooperative', { last_seen_ms: 0 }), policies)).toBeNull();
  });

  it('may be known from the session alone, after a start of the gateway', () => {
    const refused_call = { decision: 'over_budget', at_ms: STOPPED_AT_MS } as const;
    expect(stoppedAgentOf(looping('running', 'enforced', { refused_call }), policies)).toBe(
      'agent_over_budget',
    );
    expect(stoppedAgentOf(looping('refilled', 'enforced', { refused_call }), policies)).toBeNull();
  });

  it('goes on elsewhere where one of its sessions is capped, until its policy is changed', () => {
    const refused_call = { decision: 'session_capped', at_ms: STOPPED_AT_MS } as const;
    expect(stoppedAgentOf(looping('refilled', 'enforced', { refused_call }), policies)).toBe(
      'session_capped',
    );
    expect(restOf(looping('hasty', 'enforced', { refused_call }), policies)).toBe('session_capped');
    expect(stoppedAgentOf(looping('capped'), policies)).toBeNull();
    expect(stoppedAgentOf(looping('raised', 'enforced', { refused_call }), policies)).toBeNull();
    expect(stoppedAgentOf(looping('running', 'cooperative', { refused_call }), policies)).toBeNull();
  });

  it('is no longer refused for what was changed for all agents since', () => {
    const refused_call = { decision: 'over_budget', at_ms: STOPPED_AT_MS } as const;
    for (const [updated_at_ms, stopped] of [
      [STOPPED_AT_MS, 'agent_over_budget'],
      [STOPPED_AT_MS + 1, null],
    ] as const) {
      const changed = buildPolicies(AGENTS, { updated_at_ms });
      expect(stoppedAgentOf(looping('spent'), changed)).toBe(stopped);
      expect(stoppedAgentOf(looping('running', 'enforced', { refused_call }), changed)).toBe(stopped);
    }
  });

  it('is nobody who stops a session that is over', () => {
    expect(stoppedAgentOf(looping('killed', 'enforced', { ended: true }), policies)).toBeNull();
  });
});

it('shows a stopped agent as idle in the list, as the map does, and a loop or an end as what it is', () => {
  const { control } = looping('off');
  expect(dotState('active', 'agent_off', control)).toBe('idle');
  expect(dotState('blocked', 'agent_killed', control)).toBe('idle');
  expect(dotState('alert_entropy', 'agent_killed', control)).toBe('alert_entropy');
  expect(dotState('dead', 'agent_off', control)).toBe('dead');
  expect(dotState('active', null, control)).toBe('active');
});
