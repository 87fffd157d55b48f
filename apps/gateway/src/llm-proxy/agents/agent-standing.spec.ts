import { expect, it } from 'vitest';
import { type AgentPolicy, ALL_AGENTS, KILL_SWITCH_ACTOR } from '#contracts';
import { defaultPolicy } from '#domain/policy';
import { FakeClock } from '#testing';
import { buildProxyCall } from '../proxy-call.fixture.js';
import { agentStanding, policyBar, upstreamStanding } from './agent-standing.js';

const NOON = Date.UTC(2026, 0, 15, 12);
const MORNING = { time_zone: 'UTC', days: [1, 2, 3, 4, 5, 6, 7], from: '06:00', to: '12:00' };

it.each<[string, Partial<AgentPolicy>, string | null]>([
  ['has no settings', {}, null],
  ['was stopped by an operator', { active: false, deactivated_by: 'ada' }, 'inactive'],
  ['was stopped by the kill switch', { active: false, deactivated_by: KILL_SWITCH_ACTOR }, 'killed'],
  ['is out of its hours', { allowed_hours: MORNING }, 'outside_hours'],
  [
    'was stopped, and is out of its hours',
    { active: false, deactivated_by: 'ada', allowed_hours: MORNING },
    'inactive',
  ],
])('tells why an agent may not call that %s', (_, changes, bar) => {
  expect(policyBar({ ...defaultPolicy('crawler'), ...changes }, NOON)).toBe(bar);
});

const sayOf = (own: Partial<AgentPolicy> | null, ofAll: Partial<AgentPolicy> | null) => {
  const parts = {
    agents: {
      restriction: () => own && { ...defaultPolicy('crawler'), ...own },
      restrictionOfAll: (tenantId: string) =>
        tenantId === 'default' ? ofAll && { ...defaultPolicy(ALL_AGENTS), ...ofAll } : null,
      wasKilledIn: () => false,
    },
    isInForce: () => true,
    clock: new FakeClock(NOON),
  };
  const call = buildProxyCall({ agentId: 'crawler' });
  return { mayCall: agentStanding(parts)(call), mayGoOn: upstreamStanding(parts)(call) };
};

it('says when its hours begin as a spent budget says when it is over, to the minute and with the zone', () => {
  expect(sayOf({ allowed_hours: MORNING }, null).mayCall).toMatchObject({
    detail: 'This agent may not run at this hour; next at 2026-01-16 06:00 UTC.',
  });
});

it('asks its own policy and that of all agents together, and says which of them it is that stops it', () => {
  expect(sayOf(null, {})).toEqual({ mayCall: undefined, mayGoOn: undefined });
  const stopped = { active: false, deactivated_by: 'ada', deactivated_reason: 'the key has leaked' };
  for (const own of [null, {}, { budget_day_usd: 5 }]) {
    const { mayCall, mayGoOn } = sayOf(own, stopped);
    const detail =
      'An operator stopped all agents of this tenant (the key has leaked); an operator can let them run.';
    expect(mayCall).toMatchObject({ code: 'agent_inactive', detail });
    expect(mayGoOn).toMatchObject({ code: 'agent_inactive', detail });
  }
  const killed = { active: false, deactivated_by: KILL_SWITCH_ACTOR, deactivated_at_ms: NOON };
  expect(sayOf(killed, stopped).mayCall).toMatchObject({ detail: expect.stringMatching(/^The kill switch/) });
  expect(sayOf({}, { allowed_hours: MORNING }).mayCall).toMatchObject({
    code: 'outside_allowed_hours',
    detail: 'No agent of this tenant may run at this hour; next at 2026-01-16 06:00 UTC.',
  });
  // What runs may be finished once the hour is over.
  expect(sayOf({}, { allowed_hours: MORNING }).mayGoOn).toBeUndefined();
});
