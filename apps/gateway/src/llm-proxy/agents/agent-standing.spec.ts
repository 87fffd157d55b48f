import { expect, it } from 'vitest';
import { type AgentPolicy, KILL_SWITCH_ACTOR } from '#contracts';
import { defaultPolicy } from '#domain/policy';
import { FakeClock } from '#testing';
import { agentStanding, policyBar } from './agent-standing.js';

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

it('says when its hours begin as a spent budget says when it is over, to the minute and with the zone', () => {
  const policy = { ...defaultPolicy('crawler'), allowed_hours: MORNING };
  const mayCall = agentStanding({
    agents: { restriction: () => policy, wasKilledIn: () => false },
    isInForce: () => true,
    clock: new FakeClock(NOON),
  });
  expect(mayCall({} as never)).toMatchObject({
    detail: 'This agent may not run at this hour; next at 2026-01-16 06:00 UTC.',
  });
});
