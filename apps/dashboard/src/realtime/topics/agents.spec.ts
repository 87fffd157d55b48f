import { expect, test } from 'vitest';
import { type AgentView, LIMITS } from '#contracts';
import { agentsMerge } from './agents';

const agent = (agent_id: string, last_call_ms: number, active = true) =>
  ({ agent_id, last_call_ms, open_incident_id: null, held_call_count: 0, policy: { active } }) as AgentView;

test('a page that stays open forgets the agents that called longest ago, and none that is stopped', () => {
  let data = agentsMerge.start([agent('stopped', 0, false), agent('quiet', 1)]);
  const { listedAgentsMax } = LIMITS;
  for (let at = 2; at < 3 * listedAgentsMax; at += 1)
    data = agentsMerge.apply(data, [agent(`bot-${at}`, at)]);
  expect(data.size).toBeGreaterThanOrEqual(listedAgentsMax);
  expect(data.size).toBeLessThanOrEqual(1.1 * listedAgentsMax);
  expect(data.has('stopped')).toBe(true);
  expect(data.has('quiet')).toBe(false);
  expect(data.has(`bot-${3 * listedAgentsMax - 1}`)).toBe(true);
});
