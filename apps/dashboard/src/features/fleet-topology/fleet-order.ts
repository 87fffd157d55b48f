/** The order of the fleet's table. Ties are broken by name and id, so that rows hold still. */
import type { TopologyNode } from '#contracts';
import { knownState } from './fleet-search';

export const FLEET_SORTS = ['state', 'agent', 'steps', 'seen'] as const;
export type FleetSort = (typeof FLEET_SORTS)[number];

const GRAVITY = { alert_entropy: 0, schema_violation: 1, blocked: 2, active: 3, idle: 4, dead: 5 } as const;

const byName = (a: TopologyNode, b: TopologyNode): number =>
  a.agent_id.localeCompare(b.agent_id, 'en', { numeric: true }) || (a.node_id < b.node_id ? -1 : 1);

const ORDERS: Record<FleetSort, (a: TopologyNode, b: TopologyNode) => number> = {
  state: (a, b) => GRAVITY[knownState(a.state)] - GRAVITY[knownState(b.state)],
  agent: () => 0,
  steps: (a, b) => b.step_count - a.step_count,
  seen: (a, b) => b.last_seen_ms - a.last_seen_ms,
};

/** Gravest, largest and latest first. */
export const orderFleet = (nodes: readonly TopologyNode[], sort: FleetSort): TopologyNode[] =>
  nodes.toSorted((a, b) => ORDERS[sort](a, b) || byName(a, b));
