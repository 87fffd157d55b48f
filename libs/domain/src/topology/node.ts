/**
 * One agent in one session, as the map shows it. Its state has two layers: what it is doing, and on top, for a while,
 * that its last message was refused.
 *
 *     idle <-> active <-> blocked <-> alert_entropy      (any) -> dead
 *     ------------------------------------------------------------------
 *     schema_violation hides it for 30 s or until the next valid message
 */
import type { NodeState, TopologyNode } from '#contracts';
import type { Edge } from './edge.js';

/** Everything but the layer on top, which only `recordViolation` sets. */
export type OperationalState = Exclude<NodeState, 'schema_violation'>;

const INTENT_CHARS_MAX = 120;

const NO_EDGES: ReadonlyMap<string, Edge> = new Map();

/** Escaped as in a JSON pointer, so that no two pairs share an id whatever characters they hold. */
const escapePart = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** Unique per (session, agent) within a tenant. The ghost of an agent has the session "". */
export const nodeIdOf = (sessionId: string, agentId: string): string =>
  `${escapePart(sessionId)}/${escapePart(agentId)}`;

export class Node {
  readonly nodeId: string;
  operational: OperationalState = 'active';
  isViolating = false;
  /** It is among the changes that nobody has asked for yet. For `ChangeSet` alone. */
  isListed = false;
  lastSeenMs = 0;
  /** The same by the clock that nobody sets, by which the node grows old. */
  seenSteadyMs = 0;
  agentType = '';
  /** By the node_id at their other end; null until there is one, which an agent that works alone never has. */
  #outgoing: Map<string, Edge> | null = null;
  #incoming: Map<string, Edge> | null = null;
  #lastIntent = '';
  #stepCount = 0;

  /** @param sessionId "" for a ghost */
  constructor(
    readonly sessionId: string,
    readonly agentId: string,
  ) {
    this.nodeId = nodeIdOf(sessionId, agentId);
  }

  get isGhost(): boolean {
    return this.sessionId === '';
  }

  get state(): NodeState {
    return this.isViolating ? 'schema_violation' : this.operational;
  }

  get outgoing(): ReadonlyMap<string, Edge> {
    return this.#outgoing ?? NO_EDGES;
  }

  get incoming(): ReadonlyMap<string, Edge> {
    return this.#incoming ?? NO_EDGES;
  }

  /** @param edge from this node or to it */
  link(edge: Edge): void {
    if (edge.from === this.nodeId) {
      this.#outgoing ??= new Map();
      this.#outgoing.set(edge.to, edge);
    } else {
      this.#incoming ??= new Map();
      this.#incoming.set(edge.from, edge);
    }
  }

  unlink(edge: Edge): void {
    if (edge.from === this.nodeId) this.#outgoing?.delete(edge.to);
    else this.#incoming?.delete(edge.from);
  }

  recordStep(agentType: string, intent: string, receivedAtMs: number, steadyMs: number): void {
    this.describe(agentType, intent, receivedAtMs);
    this.seenSteadyMs = steadyMs;
    this.#stepCount += 1;
    if (this.operational === 'idle') this.operational = 'active';
  }

  /** What was seen of it last; counts no step. */
  describe(agentType: string, intent: string, seenAtMs: number): void {
    this.agentType = agentType;
    this.#lastIntent =
      intent.length > INTENT_CHARS_MAX ? `${intent.slice(0, INTENT_CHARS_MAX - 1)}…` : intent;
    this.lastSeenMs = Math.max(this.lastSeenMs, seenAtMs);
  }

  view(): TopologyNode {
    return {
      node_id: this.nodeId,
      agent_id: this.agentId,
      session_id: this.sessionId,
      state: this.state,
      agent_type: this.agentType,
      last_intent: this.#lastIntent,
      step_count: this.#stepCount,
      last_seen_ms: this.lastSeenMs,
      ghost: this.isGhost,
    };
  }
}
