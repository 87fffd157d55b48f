import { expect, it } from 'vitest';
import { agentScope, allAgents, isAllAgents } from './identity.js';

it('tells all agents together from each of them, whatever its id', () => {
  expect(isAllAgents(allAgents('default'))).toBe(true);
  for (const agentId of ['bot', '\0', 'bot\0', ' '])
    expect(isAllAgents(agentScope('default', agentId))).toBe(false);
});
