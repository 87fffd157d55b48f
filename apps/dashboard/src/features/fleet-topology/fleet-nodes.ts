/**
 * The map's nodes with what the other pages know: a loop that is stopped or silent burns no more, and a session that
 * asks the same in other words loops as well. Pure.
 */
import type { SessionView, TopologyNode } from '#contracts';
import type { LoopsNow } from '../../app/loops-now';
import type { TopologyData } from '../../realtime';
import { nodeColour, nodeLabel, type PAUSED, type WAITING } from '../../ui/state-dot';
import {
  isOutranked,
  LOOP_REST_LABELS,
  type Policies,
  pauseState,
  type Rest,
  restOf,
  STOPPED_LABELS,
  type StoppedAgent,
  stoppedAgentOf,
} from '../session-clusters/rest';

/** Its `state` is `alert_entropy` where its session loops now, and where `rest` says why that loop burns no more. */
export interface FleetNode extends TopologyNode {
  rest?: Rest;
  /** Its session, which does not loop, is held: by somebody, or because it waits for a person. */
  paused?: typeof PAUSED | typeof WAITING;
  /** Its calls are refused, so that it is idle whatever it did last. */
  stopped?: StoppedAgent;
}

export interface FleetData extends TopologyData {
  nodes: ReadonlyMap<string, FleetNode>;
}

export interface KnownLoops {
  sessions: ReadonlyMap<string, SessionView>;
  policies: Policies;
  loops: LoopsNow;
}

/** The same node where nobody knows better. */
export function fleetNode(topologyNode: TopologyNode, { sessions, policies, loops }: KnownLoops): FleetNode {
  const loop = loops.get(topologyNode.session_id);
  const session = sessions.get(topologyNode.session_id);
  const node =
    session && isAhead(topologyNode, session) ? { ...topologyNode, state: session.state } : topologyNode;
  if (node.state === 'alert_entropy') {
    if (loop || !session) return node;
    const rest = restOf(session, policies);
    if (rest !== null && session.severity === 'loop' && !session.ended) return { ...node, rest };
    // Another agent of its session has gone on, or the session is over.
    return inHand({ ...node, state: session.state }, session, policies);
  }
  if (loop?.kind === 'words' && loop.agent_id === node.agent_id && isOutranked(node.state))
    return { ...node, state: 'alert_entropy' };
  return inHand(node, session, policies);
}

/**
 * Coloured, or cleared, by a step that is held: the gateway tells the map when a step is scored, and all else of it once it
 * is let go. Until then its session's row says how it is.
 */
const isAhead = ({ state, agent_id }: TopologyNode, session: SessionView): boolean =>
  session.control.held_count > 0 &&
  state !== session.state &&
  (isOutranked(state) || state === 'alert_entropy') &&
  (agent_id === session.agent_id || (state === 'blocked' && session.severity === 'normal'));

/** What outranks what an agent does by itself, where its session does not loop: a pause of it, or that the agent is stopped. */
function inHand(node: TopologyNode, session: SessionView | undefined, policies: Policies): FleetNode {
  if (!session || !isOutranked(node.state)) return node;
  if (restOf(session, policies) === 'held') return { ...node, paused: pauseState(session.control) };
  const stopped = session.agent_id === node.agent_id ? stoppedAgentOf(session, policies) : null;
  return stopped === null ? node : { ...node, state: 'idle', stopped };
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
  a.stopped === b.stopped &&
  a.last_seen_ms === b.last_seen_ms &&
  a.step_count === b.step_count &&
  a.last_intent === b.last_intent &&
  a.agent_type === b.agent_type;

/** "Loop", "Loop, held", "Paused", "Waits for a person", "Agent off". */
export function fleetLabel(node: Pick<FleetNode, 'state' | 'rest' | 'paused' | 'stopped'>): string {
  if (node.rest) return LOOP_REST_LABELS[node.rest];
  return node.stopped ? STOPPED_LABELS[node.stopped] : nodeLabel(dotOf(node));
}

/** Its steps are counted since the gateway's start, and all of its own came before. */
export const isFromBefore = ({ step_count, ghost }: Pick<FleetNode, 'step_count' | 'ghost'>): boolean =>
  step_count === 0 && !ghost;

/** For its dot and its colour. */
export const dotOf = ({ state, paused }: Pick<FleetNode, 'state' | 'paused'>): string => paused ?? state;

/** On the map and in its overview. A loop at rest is faded: beside one that flashes, its frame would be the redder of the two. */
export const fleetColour = (node: Pick<FleetNode, 'state' | 'rest' | 'paused'>): string =>
  node.rest ? `color-mix(in srgb, ${nodeColour(node.state)} 55%, var(--surface))` : nodeColour(dotOf(node));
