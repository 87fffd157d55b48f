/** What Fleet shows, in the address: a link shows a colleague exactly what you see. Unknown values fall away. */
import { NODE_STATES, type NodeState, type TopologyNode } from '#contracts';

export const FLEET_VIEWS = ['map', 'table'] as const;
export type FleetView = (typeof FLEET_VIEWS)[number];

export interface FleetSearch {
  view: FleetView;
  /** Agent, session or intent contains this, whatever the case; "" = all. */
  q: string;
  /** Empty: every state. */
  states: readonly NodeState[];
}

/** Never throws. */
export function parseFleetSearch(search: Record<string, unknown>): FleetSearch {
  const asked = typeof search.states === 'string' ? search.states.split(',') : [];
  return {
    view: search.view === 'table' ? 'table' : 'map',
    q: typeof search.q === 'string' || typeof search.q === 'number' ? String(search.q) : '',
    states: NODE_STATES.filter((state) => asked.includes(state)),
  };
}

/** The address's members; defaults are left out. */
export function writeFleetSearch({ view, q, states }: FleetSearch): Record<string, string | undefined> {
  return {
    view: view === 'map' ? undefined : view,
    q: q || undefined,
    states: states.length > 0 ? states.join(',') : undefined,
  };
}

export const isNarrowed = ({ q, states }: FleetSearch): boolean => q.trim() !== '' || states.length > 0;

/** A state this page does not know counts, and shows, as idle. */
export const knownState = (state: string): NodeState =>
  NODE_STATES.find((known) => known === state) ?? 'idle';

export function matchesFleet(node: TopologyNode, { q, states }: Pick<FleetSearch, 'q' | 'states'>): boolean {
  if (states.length > 0 && !states.includes(knownState(node.state))) return false;
  const wanted = q.trim().toLowerCase();
  if (wanted === '') return true;
  return [node.agent_id, node.session_id, node.agent_type, node.last_intent].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}

/** How many nodes are in each state. */
export function countStates(nodes: Iterable<TopologyNode>): Record<NodeState, number> {
  const counts = Object.fromEntries(NODE_STATES.map((state) => [state, 0])) as Record<NodeState, number>;
  for (const node of nodes) counts[knownState(node.state)] += 1;
  return counts;
}
