import { describe, expect, it } from 'vitest';
import { type AgentInBrief, agentsToShow } from './agents-to-show.js';

const agent = (agent_id: string, changes: Partial<AgentInBrief> = {}): AgentInBrief => ({
  agent_id,
  waits: false,
  isActive: true,
  isWarned: false,
  lastCallMs: null,
  ...changes,
});

describe('the agents that a list shows', () => {
  it('are all where there is room, by id', () => {
    expect(agentsToShow([agent('b'), agent('a')], 2)).toEqual(['a', 'b']);
  });

  it('are those that want somebody before the others, whatever their names', () => {
    const agents = [
      agent('a'),
      agent('b', { lastCallMs: 5 }),
      agent('s', { isActive: false }),
      agent('t', { isWarned: true }),
      agent('w', { waits: true, isActive: false }),
    ];
    expect(agentsToShow(agents, 1)).toEqual(['w']);
    expect(agentsToShow(agents, 2)).toEqual(['t', 'w']);
    expect(agentsToShow(agents, 3)).toEqual(['s', 't', 'w']);
    expect(agentsToShow(agents, 4)).toEqual(['b', 's', 't', 'w']);
  });
});
