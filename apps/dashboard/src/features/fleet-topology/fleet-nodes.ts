/**
 * The map's nodes with what the other pages know: a loop that is stopped or silent burns no more, and a session that
 * asks the same in other words loops as well. Pure.
 */
import type { SessionView, TopologyNode } from '#contracts';
import type { LoopsNow } from '../../app/loops-now';
import type { TopologyData } from '../../realtime';
import { nodeColour, nodeLabel, PAUSED } from '../../ui/state-dot';
import { isOutranked, LOOP_REST_LABELS, type Policies, type Rest, restOf } from '../session-clusters/rest';

/** Its `state` is `alert_entropy` where its session loops now, and where `rest` says why that loop burns no more. */
export interface FleetNode extends TopologyNode {
  rest?: Rest;
  /** Somebody holds its session, which does not loop: it waits for a person. */
  paused?: true;
}

export interface FleetData extends TopologyData {
  nodes: ReadonlyMap<string, FleetNode>;
}

export interface KnownLoops {
  sessions: ReadonlyMap<string, SessionView>;
  agents: Policies;
  loops: LoopsNow;
}

/** The same node where nobody knows better. */
export function fleetNode(node: TopologyNode, { sessions, agents, loops }: KnownLoops): FleetNode {
  const loop = loops.get(node.session_id);
  const session = sessions.get(node.session_id);
  if (node.state !== 'alert_entropy') {
    const rewords = loop?.kind === 'words' && loop.agent_id === node.agent_id;
    if (!isOutranked(node.state)) return node;
    if (rewords) return { ...node, state: 'alert_entropy' };
    return session && restOf(session, agents) === 'held' ? { ...node, paused: true } : node;
  }
  if (loop || !session) return node;
  const rest = restOf(session, agents);
  // Another agent of its session has gone on, or the session is over.
  return rest !== null && session.severity === 'loop' && !session.ended
    ? { ...node, rest }
    : { ...node, state: session.state };
}

/** @param before what this gave last: a node that did not change is the same object as there, and so is all if none did */
export function fleetData(topology: TopologyData, known: KnownLoops, before: FleetData | null): FleetData {
  const nodes = new Map<string, FleetNode>();
  let isSame = before?.edges === topology.edges && before.nodes.size === topology.nodes.size;
  for (const [nodeId, node] of topology.nodes) {
    const now = fleetNode(node, known);
    const last = before?.nodes.get(nodeId);
    const kept = last && isSameNode(last, now) ? last : now;
    isSame &&= kept === last;
    nodes.set(nodeId, kept);
  }
  return isSame && before ? before : { nodes, edges: topology.edges };
}

const isSameNode = (a: FleetNode, b: FleetNode): boolean =>
  a.state === b.state &&
  a.rest === b.rest &&
  a.paused === b.paused &&
  a.last_seen_ms === b.last_seen_ms &&
  a.step_count === b.step_count &&
  a.last_intent === b.last_intent &&
  a.agent_type === b.agent_type;

/** "Loop", "Loop, held", "Paused". */
export const fleetLabel = (node: Pick<FleetNode, 'state' | 'rest' | 'paused'>): string =>
  node.rest ? LOOP_REST_LABELS[node.rest] : nodeLabel(dotOf(node));

/** For its dot and its colour. */
export const dotOf = ({ state, paused }: Pick<FleetNode, 'state' | 'paused'>): string =>
  paused ? PAUSED : state;

/** On the map and in its overview. A loop at rest is faded: beside one that flashes, its frame would be the redder of the two. */
export const fleetColour = (node: Pick<FleetNode, 'state' | 'rest' | 'paused'>): string =>
  node.rest ? `color-mix(in srgb, ${nodeColour(node.state)} 55%, var(--surface))` : nodeColour(dotOf(node));
