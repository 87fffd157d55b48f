/** What Fleet shows, in the address: a link shows a colleague exactly what you see. Unknown values fall away. */
import { NODE_STATES, type NodeState } from '#contracts';
import type { FleetNode } from './fleet-nodes';

const FLEET_VIEWS = ['map', 'table'] as const;
export type FleetView = (typeof FLEET_VIEWS)[number];

/** What an agent can be filtered by: a loop at rest has the colour of a loop, but is none that runs now; `paused` waits for a person. */
const FLEET_STATES = [...NODE_STATES, 'loop_rests', 'paused'] as const;
export type FleetState = (typeof FLEET_STATES)[number];

export interface FleetSearch {
  view: FleetView;
  /** Agent, session or intent contains this, whatever the case; "" = all. */
  q: string;
  /** Empty: every state. */
  states: readonly FleetState[];
}

/** Never throws. */
export function parseFleetSearch(search: Record<string, unknown>): FleetSearch {
  const asked = typeof search.states === 'string' ? search.states.split(',') : [];
  return {
    view: search.view === 'table' ? 'table' : 'map',
    q: typeof search.q === 'string' || typeof search.q === 'number' ? String(search.q) : '',
    states: FLEET_STATES.filter((state) => asked.includes(state)),
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
const knownState = (state: string): NodeState => NODE_STATES.find((known) => known === state) ?? 'idle';

export const fleetState = ({
  state,
  rest,
  paused,
}: Pick<FleetNode, 'state' | 'rest' | 'paused'>): FleetState => {
  if (rest) return 'loop_rests';
  return paused ? 'paused' : knownState(state);
};

export function matchesFleet(node: FleetNode, { q, states }: Pick<FleetSearch, 'q' | 'states'>): boolean {
  if (states.length > 0 && !states.includes(fleetState(node))) return false;
  const wanted = q.trim().toLowerCase();
  if (wanted === '') return true;
  return [node.agent_id, node.session_id, node.agent_type, node.last_intent].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}

/**
 * How many cards are in each state. A loop is a session's, whichever of its agents goes round in it: it counts once, as
 * on every page.
 */
export function countStates(nodes: Iterable<FleetNode>): Record<FleetState, number> {
  const counts = Object.fromEntries(FLEET_STATES.map((state) => [state, 0])) as Record<FleetState, number>;
  const counted = new Set<string>();
  for (const node of nodes) {
    const state = fleetState(node);
    if (node.state === 'alert_entropy') {
      if (counted.has(node.session_id)) continue;
      counted.add(node.session_id);
    }
    counts[state] += 1;
  }
  return counts;
}

/** An agent in three sessions is one agent, with three cards. */
export const countAgents = (nodes: Iterable<FleetNode>): number =>
  new Set(Array.from(nodes, ({ agent_id }) => agent_id)).size;

/** Ghosts are in none. */
export function countSessions(nodes: Iterable<FleetNode>): number {
  const ids = new Set(Array.from(nodes, ({ session_id }) => session_id));
  ids.delete('');
  return ids.size;
}
