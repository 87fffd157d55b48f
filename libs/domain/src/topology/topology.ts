/**
 * The live map of one tenant: which agents work in which sessions, in what state, and whose steps led to whose. Pure
 * state: someone tells it what happened and the time, and collects what changed. It renders nothing, stores nothing
 * and forgets what is old.
 *
 *     restore, recordStep, setNodeState, recordViolation, endSession, sweep   ->   drainChanges, snapshot
 *
 * @see observatory.md, section 3
 */
import type { ActionStatus, NodeState, SessionView, TopologyChange } from '#contracts';
import { type Clock, OldestEntry } from '#kernel';
import { AgentNodes } from './agent-nodes.js';
import { ChangeSet } from './change-set.js';
import { Edge } from './edge.js';
import { Node, nodeIdOf, type OperationalState } from './node.js';
import { type Arrival, Session } from './session.js';
import { StepRing } from './step-ring.js';

const TOPOLOGY_LIMITS = {
  /** Nodes, ghosts included; the oldest idle, dead or ghost ones make room. */
  nodeCountMax: 20_000,
  /** A new edge beyond it is refused and counted. */
  edgeCountMax: 50_000,
  /** Ghosts; the oldest makes room. */
  ghostCountMax: 500,
  /** Steps remembered, of all sessions together, to find a parent by its trace id; and the latest of each session besides. */
  stepCountMax: 200_000,
  /** Steps followed from child to parent, to find one that would be its own ancestor. */
  ancestorCountMax: 1_000,
  /** States set for nodes that have no step yet. */
  earlyStateCountMax: 1_000,
  /** Nodes, edges and removals in one delta, of each; what there is more of leaves with the next. */
  deltaCountMax: 1_000,
  /** A refused message shows for this long. */
  violationMs: 30_000,
  /** A step waits this long for its parent before it counts as an orphan. */
  orphanAfterMs: 5_000,
  /** An active agent without a message turns idle. */
  idleAfterMs: 60_000,
  /** An ended session leaves the map. */
  endedKeptMs: 60_000,
  /** A silent node leaves the map, whatever its state. */
  silentKeptMs: 30 * 60_000,
  /** A ghost leaves, counted from the agent's last refused message. */
  ghostKeptMs: 5 * 60_000,
} as const;
export type TopologyLimits = { readonly [Limit in keyof typeof TOPOLOGY_LIMITS]: number };

/** A valid message, as the map sees it. */
export interface TopologyStep {
  session_id: string;
  agent_id: string;
  agent_type: string;
  trace_id: string;
  /** null or "" = a root. */
  parent_step_id: string | null;
  /** The agent's own timestamp. */
  at_ms: number;
  received_at_ms: number;
  intent: string;
  status: ActionStatus;
}

/** A session's row, as the map sees it. */
export type TopologySession = Pick<
  SessionView,
  'session_id' | 'agent_id' | 'agent_type' | 'last_intent' | 'last_seen_ms' | 'state'
>;

interface Parent extends Omit<Arrival, 'node'> {
  /** Undefined: it has left the map. */
  node: Node | undefined;
  traceId: string;
}

/** How often a bound was reached, or an edge refused, since the start. */
export interface TopologyCounts {
  nodesPruned: number;
  edgesRefused: number;
  cyclesRefused: number;
}

/** A busy session moves among the others at most this often: a Map that entries leave is built anew every so often. */
const MOVED_EVERY_MS = 1_000;
/** Share of the nodes that goes at once when they are too many, so that a full map is not sorted for each step. */
const PRUNED_SHARE = 0.05;

export class Topology {
  readonly counts: TopologyCounts = { nodesPruned: 0, edgesRefused: 0, cyclesRefused: 0 };
  readonly #clock: Clock;
  readonly #limits: TopologyLimits;
  readonly #seed: number;
  readonly #nodes = new Map<string, Node>();
  /** Longest silent first, to the second. */
  readonly #sessions = new Map<string, Session>();
  /** No agent is here without a node. */
  readonly #agents = new Map<string, AgentNodes>();
  readonly #violatingAgents = new Set<AgentNodes>();
  /** By agent, longest silent first. */
  readonly #ghosts = new Map<string, Node>();
  readonly #earlyStates = new Map<string, OperationalState>();
  readonly #oldestEarlyState = new OldestEntry(this.#earlyStates);
  readonly #changes = new ChangeSet();
  #steps: StepRing;
  #edgeCount = 0;
  /** That there ever were. */
  #sessionCount = 0;

  /** @param options.seed of digests, 32 bits: of this process's own where strangers name the steps */
  constructor(options: { clock: Clock; limits?: Partial<TopologyLimits>; seed?: number }) {
    this.#clock = options.clock;
    this.#seed = options.seed ?? 0;
    this.#limits = { ...TOPOLOGY_LIMITS, ...options.limits };
    this.#steps = new StepRing(this.#limits.stepCountMax);
  }

  get nodeCount(): number {
    return this.#nodes.size;
  }

  get edgeCount(): number {
    return this.#edgeCount;
  }

  /**
   * One more valid message of an agent: its node appears or moves, a refused message before it is forgiven, and its
   * place among the session's steps becomes an edge. O(1) but for a parent chain that must be checked for a cycle.
   *
   * @returns a warning where the step names itself or a descendant as its parent, else null
   */
  recordStep(input: TopologyStep): string | null {
    const { trace_id: traceId, at_ms: atMs, status } = input;
    const steadyMs = this.#clock.steadyMs();
    const session = this.#sessionOf(input.session_id, input.received_at_ms);
    const node = session.nodeOf(input.agent_id) ?? this.#addNode(session, input.agent_id);
    node.recordStep(input.agent_type, input.intent, input.received_at_ms, steadyMs);
    if (node.isViolating) this.#agents.get(input.agent_id)?.calmDown(node);
    this.#changes.changed(node);

    const named = input.parent_step_id || null;
    const isCycle = named !== null && this.#wouldCycle(session, traceId, named);
    const parent = named === null || isCycle ? null : this.#parentOf(session, named);
    // The parent's own text, not a second one for each of its children.
    const parentTraceId = isCycle ? null : (parent?.traceId ?? named);
    const previous = session.latest;
    const waiting =
      parent === null && parentTraceId !== null
        ? { session, node, atMs, status, parentTraceId, previous, sinceMs: steadyMs }
        : null;
    session.latestNode = node;
    session.latestTraceId = traceId;
    session.latestMs = atMs;
    const children = session.takeAwaiting(traceId);
    this.#steps.add({ session, agentId: node.agentId, traceId, parentTraceId, atMs, waiting });
    // Before its own place: that it caused the step before it must be known when it is asked what came before.
    for (const child of children) this.#recordEdge(node, child.node, true, child.atMs - atMs, child.status);
    if (parent) this.#recordEdge(parent.node, node, true, atMs - parent.atMs, status);
    else if (waiting) session.awaitParent(waiting);
    else if (!isCycle) this.#handOver(previous, node, atMs, status);
    if (!isCycle) return null;
    this.counts.cyclesRefused += 1;
    return `meta.parent_step_id refused: step ${quote(input.trace_id)} would be its own ancestor`;
  }

  /**
   * A session from before the start: the agent of its latest step, in the state that its row had. The session's other agents
   * and its links come with their next steps, which are counted from then on. Nothing for one that has ended, or would have left
   * the map. To be called before its first step.
   */
  restore({ session_id, agent_id, agent_type, last_intent, last_seen_ms, state }: TopologySession): void {
    const silentMs = Math.max(0, this.#clock.nowMs() - last_seen_ms);
    const isGone = silentMs >= this.#limits.silentKeptMs;
    if (isGone || state === 'dead' || state === 'schema_violation') return;
    const node = this.#addNode(this.#sessionOf(session_id, last_seen_ms), agent_id);
    node.describe(agent_type, last_intent, last_seen_ms);
    node.seenSteadyMs = this.#clock.steadyMs() - silentMs;
    node.operational = state;
  }

  /**
   * What the agent is doing, as the entropy tracker or an operator has it. For a node not on the map yet it is kept
   * until its first step. A dead node stays dead, but for one that loops though its session said that it had ended;
   * `schema_violation` comes through `recordViolation` only.
   */
  setNodeState(sessionId: string, agentId: string, state: NodeState): void {
    if (state === 'schema_violation') return;
    const nodeId = nodeIdOf(sessionId, agentId);
    const node = this.#nodes.get(nodeId);
    if (node === undefined) {
      this.#earlyStates.delete(nodeId);
      this.#earlyStates.set(nodeId, state);
      if (this.#earlyStates.size > this.#limits.earlyStateCountMax) this.#oldestEarlyState.take();
    } else if (
      (node.operational !== 'dead' || this.#goesOn(sessionId, state)) &&
      node.operational !== state
    ) {
      node.operational = state;
      this.#changes.changed(node);
    }
  }

  /**
   * A message of this agent was refused: all its nodes show it, for `violationMs` or until their next valid message.
   * An agent not on the map gets a ghost.
   *
   * @param agentId "unknown" where the message names none
   */
  recordViolation(agentId: string, nowMs: number): void {
    const known = this.#agents.get(agentId);
    const ghost = this.#ghosts.get(agentId);
    const steadyMs = this.#clock.steadyMs();
    if (known === undefined) this.#addGhost(agentId, nowMs);
    else if (ghost) {
      this.#ghosts.delete(agentId);
      this.#ghosts.set(agentId, ghost);
      ghost.lastSeenMs = nowMs;
      ghost.seenSteadyMs = steadyMs;
      this.#changes.changed(ghost);
    }
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return;
    for (const node of agent.violate(steadyMs + this.#limits.violationMs)) this.#changes.changed(node);
    this.#violatingAgents.add(agent);
  }

  /**
   * Its nodes are dead, and leave the map a minute later. Unknown sessions are none of its business.
   *
   * @param isTerminated an operator or the policy ended it, whatever its agents go on to do
   */
  endSession(sessionId: string, isTerminated = false): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    session.isTerminated ||= isTerminated;
    if (session.isEnded) return;
    session.isEnded = true;
    session.endedMs = this.#clock.steadyMs();
    for (const node of session.nodes.values()) {
      node.operational = 'dead';
      this.#changes.changed(node);
    }
  }

  /** Does what is due, whoever sets the wall clock: call it a few times a second. O(nodes). */
  sweep(): void {
    const nowMs = this.#clock.steadyMs();
    this.#endViolations(nowMs);
    for (const session of this.#sessions.values()) {
      if (session.undecided.size > 0) this.#placeOrphans(session, nowMs);
      const isOver = session.isEnded && nowMs - session.endedMs >= this.#limits.endedKeptMs;
      for (const node of session.nodes.values()) this.#age(node, isOver, nowMs);
    }
    for (const ghost of this.#ghosts.values()) {
      if (nowMs - ghost.seenSteadyMs >= this.#limits.ghostKeptMs) this.#removeNode(ghost);
    }
  }

  /**
   * What changed since the last call, coalesced, and of much what came first; null for nothing. Snapshot plus all later deltas
   * is the next snapshot.
   */
  drainChanges(): TopologyChange | null {
    return this.#changes.drain(this.#limits.deltaCountMax);
  }

  /** Everything, as of now. Does not empty the changes. */
  snapshot(): TopologyChange {
    const nodes = [...this.#nodes.values()];
    return {
      nodes: nodes.map((node) => node.view()),
      edges: nodes.flatMap((node) => Array.from(node.outgoing.values(), (edge) => edge.view())),
    };
  }

  // --- nodes ---

  /** True for a session that said that it had ended, and loops: it has not, and its nodes are dead no more. */
  #goesOn(sessionId: string, state: NodeState): boolean {
    const session = this.#sessions.get(sessionId);
    if (state !== 'alert_entropy' || session === undefined || session.isTerminated) return false;
    session.isEnded = false;
    for (const node of session.nodes.values()) {
      node.operational = 'idle';
      this.#changes.changed(node);
    }
    return true;
  }

  #sessionOf(sessionId: string, nowMs: number): Session {
    const session = this.#sessions.get(sessionId) ?? this.#newSession(sessionId);
    if (Math.abs(nowMs - session.movedMs) < MOVED_EVERY_MS) return session;
    session.movedMs = nowMs;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    return session;
  }

  #newSession(sessionId: string): Session {
    this.#sessionCount += 1;
    return new Session(sessionId, this.#sessionCount, this.#seed);
  }

  #addNode(session: Session, agentId: string): Node {
    const ghost = this.#ghosts.get(agentId);
    if (ghost) this.#removeNode(ghost);
    const node = new Node(session.sessionId, agentId);
    this.#register(node);
    session.nodes.set(agentId, node);
    // Making room may have taken the session's last node, and the session with it.
    this.#sessions.set(session.sessionId, session);
    node.operational = session.isEnded ? 'dead' : (this.#earlyStates.get(node.nodeId) ?? 'active');
    this.#earlyStates.delete(node.nodeId);
    return node;
  }

  #addGhost(agentId: string, nowMs: number): void {
    const oldest = this.#ghosts.values().next().value;
    if (oldest && this.#ghosts.size >= this.#limits.ghostCountMax) this.#prune(oldest);
    const ghost = new Node('', agentId);
    ghost.operational = 'idle';
    ghost.lastSeenMs = nowMs;
    ghost.seenSteadyMs = this.#clock.steadyMs();
    this.#register(ghost);
    this.#ghosts.set(agentId, ghost);
  }

  #register(node: Node): void {
    if (this.#nodes.size >= this.#limits.nodeCountMax) this.#makeRoom();
    this.#nodes.set(node.nodeId, node);
    const agent = this.#agents.get(node.agentId) ?? new AgentNodes();
    this.#agents.set(node.agentId, agent);
    agent.calm.add(node);
    this.#changes.changed(node);
  }

  #makeRoom(): void {
    const isSpare = (node: Node) =>
      node.isGhost || node.operational === 'idle' || node.operational === 'dead';
    const bySpare = [...this.#nodes.values()].sort(
      (one, other) => Number(isSpare(other)) - Number(isSpare(one)) || one.seenSteadyMs - other.seenSteadyMs,
    );
    const goingCount = Math.max(1, Math.floor(this.#limits.nodeCountMax * PRUNED_SHARE));
    for (const node of bySpare.slice(0, goingCount)) this.#prune(node);
  }

  #prune(node: Node): void {
    this.#removeNode(node);
    this.counts.nodesPruned += 1;
  }

  /** With its edges, and with its session when it was the last. */
  #removeNode(node: Node): void {
    for (const edge of [...node.outgoing.values(), ...node.incoming.values()]) {
      this.#nodes.get(edge.from)?.unlink(edge);
      this.#nodes.get(edge.to)?.unlink(edge);
      this.#edgeCount -= 1;
      this.#changes.edgeGone(edge);
    }
    this.#nodes.delete(node.nodeId);
    this.#changes.removed(node);
    const agent = this.#agents.get(node.agentId);
    agent?.delete(node);
    if (agent?.size === 0) {
      this.#agents.delete(node.agentId);
      this.#violatingAgents.delete(agent);
    }
    if (node.isGhost) this.#ghosts.delete(node.agentId);
    const session = this.#sessions.get(node.sessionId);
    session?.removeNode(node);
    if (session?.nodes.size === 0) this.#forgetSession(session);
  }

  #forgetSession(session: Session): void {
    this.#sessions.delete(session.sessionId);
    session.forgetWaiting();
    // The others' steps come round; where there is nobody, nothing does.
    if (this.#sessions.size === 0) this.#steps = new StepRing(this.#limits.stepCountMax);
  }

  #age(node: Node, isSessionOver: boolean, nowMs: number): void {
    const silentMs = nowMs - node.seenSteadyMs;
    if (isSessionOver || silentMs >= this.#limits.silentKeptMs) this.#removeNode(node);
    else if (node.operational === 'active' && silentMs >= this.#limits.idleAfterMs) {
      node.operational = 'idle';
      this.#changes.changed(node);
    }
  }

  #endViolations(nowMs: number): void {
    for (const agent of this.#violatingAgents) {
      if (nowMs < agent.violationEndsMs) continue;
      for (const node of agent.violating) {
        agent.calmDown(node);
        this.#changes.changed(node);
      }
      this.#violatingAgents.delete(agent);
    }
  }

  // --- edges ---

  #parentOf(session: Session, traceId: string): Parent | null {
    const { latestNode, latestTraceId, latestMs } = session;
    // Most steps follow the latest, which is found without a look among all.
    if (latestNode && latestTraceId === traceId)
      return { node: latestNode, atMs: latestMs, traceId: latestTraceId };
    const row = this.#steps.find(session, traceId);
    if (row === 0) return null;
    const steps = this.#steps;
    const node = session.nodeOf(steps.agentIdOf(row));
    return { node, atMs: steps.timeOf(row), traceId: steps.traceIdOf(row) };
  }

  /**
   * True when `traceId`, were it a child of `parentTraceId`, would be among its own ancestors. Only a trace id that
   * is known or awaited can be, so that a long plain chain is not walked at every step.
   */
  #wouldCycle(session: Session, traceId: string, parentTraceId: string): boolean {
    if (traceId === parentTraceId) return true;
    if (!session.isAwaited(traceId) && this.#steps.find(session, traceId) === 0) return false;
    let ancestor: string | null = parentTraceId;
    for (let hops = 0; ancestor !== null && hops <= this.#limits.ancestorCountMax; hops += 1) {
      if (ancestor === traceId) return true;
      const row: number = this.#steps.find(session, ancestor);
      ancestor = row === 0 ? null : this.#steps.parentOf(row);
    }
    return false;
  }

  /** A step without a parent, linked to what came before it unless the two agents' relation is known. */
  #handOver(previous: Arrival | null, node: Node, atMs: number, status: ActionStatus): void {
    if (previous === null) return;
    const isKnown =
      node.outgoing.get(previous.node.nodeId)?.isCausal || node.incoming.get(previous.node.nodeId)?.isCausal;
    if (!isKnown) this.#recordEdge(previous.node, node, false, atMs - previous.atMs, status);
  }

  #placeOrphans(session: Session, nowMs: number): void {
    for (const step of session.undecided) {
      if (nowMs - step.sinceMs < this.#limits.orphanAfterMs) continue;
      session.decided(step);
      this.#handOver(step.previous, step.node, step.atMs, step.status);
    }
  }

  #recordEdge(
    from: Node | undefined,
    to: Node,
    isCausal: boolean,
    latencyMs: number,
    status: ActionStatus,
  ): void {
    // An agent that follows its own step needs no look at the map, and that is nearly every step.
    if (
      from === undefined ||
      from === to ||
      this.#nodes.get(from.nodeId) !== from ||
      this.#nodes.get(to.nodeId) !== to
    )
      return;
    let edge = from.outgoing.get(to.nodeId);
    if (edge === undefined) {
      if (this.#edgeCount >= this.#limits.edgeCountMax) {
        this.counts.edgesRefused += 1;
        return;
      }
      edge = new Edge(from.nodeId, to.nodeId, isCausal);
      from.link(edge);
      to.link(edge);
      this.#edgeCount += 1;
    } else if (isCausal && !edge.isCausal) edge.becomeCausal();
    edge.record(latencyMs, status);
    this.#changes.edgeChanged(edge);
  }
}

const quote = (id: string): string => JSON.stringify(id.slice(0, 80));
