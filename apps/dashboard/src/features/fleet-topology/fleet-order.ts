/** The order of the fleet's table. Ties are broken by name and id, so that rows hold still. */
import type { FleetNode } from './fleet-nodes';
import { fleetState } from './fleet-search';

const FLEET_SORTS = ['state', 'agent', 'steps', 'seen'] as const;
export type FleetSort = (typeof FLEET_SORTS)[number];

const GRAVITY = {
  alert_entropy: 0,
  schema_violation: 1,
  loop_rests: 2,
  paused: 3,
  blocked: 4,
  active: 5,
  idle: 6,
  dead: 7,
} as const;

const byName = (a: FleetNode, b: FleetNode): number =>
  a.agent_id.localeCompare(b.agent_id, 'en', { numeric: true }) || (a.node_id < b.node_id ? -1 : 1);

const ORDERS: Record<FleetSort, (a: FleetNode, b: FleetNode) => number> = {
  state: (a, b) => GRAVITY[fleetState(a)] - GRAVITY[fleetState(b)],
  agent: () => 0,
  steps: (a, b) => b.step_count - a.step_count,
  seen: (a, b) => b.last_seen_ms - a.last_seen_ms,
};

/** Gravest, largest and latest first. */
export const orderFleet = (nodes: readonly FleetNode[], sort: FleetSort): FleetNode[] =>
  nodes.toSorted((a, b) => ORDERS[sort](a, b) || byName(a, b));
