import { describe, expect, it } from 'vitest';
import type { TopologyNode } from '#contracts';
import { countStates, matchesFleet, parseFleetSearch, writeFleetSearch } from './fleet-search';

const node = (over: Partial<TopologyNode> = {}): TopologyNode => ({
  node_id: 'n',
  agent_id: 'Planner-7',
  session_id: 'ses-1',
  state: 'active',
  agent_type: 'planner',
  last_intent: 'Book a flight',
  step_count: 3,
  last_seen_ms: 0,
  ghost: false,
  ...over,
});

describe("Fleet's filters", () => {
  it('survive a trip through the address', () => {
    const search = { view: 'table', q: '42', states: ['active', 'dead'] } as const;
    expect(parseFleetSearch(writeFleetSearch(search))).toEqual(search);
  });

  it('drop what the address should not hold', () => {
    expect(parseFleetSearch({ view: 'globe', q: { a: 1 }, states: 'flying,active' })).toEqual({
      view: 'map',
      q: '',
      states: ['active'],
    });
  });

  it('find an agent by any part of its name, whatever the case', () => {
    expect(matchesFleet(node(), { q: ' planner-7 ', states: [] })).toBe(true);
    expect(matchesFleet(node(), { q: 'flight', states: ['active'] })).toBe(true);
    expect(matchesFleet(node(), { q: '', states: ['dead'] })).toBe(false);
  });

  it('count and match a state of a newer gateway as idle', () => {
    const strange = node({ state: 'levitating' as TopologyNode['state'] });
    expect(countStates([strange, node()])).toMatchObject({ idle: 1, active: 1 });
    expect(matchesFleet(strange, { q: '', states: ['idle'] })).toBe(true);
  });
});
