/** What the map remembers of one session: its nodes, its latest step, and the steps that wait for their parent. */
import type { ActionStatus } from '#contracts';
import { textDigest } from '#kernel';
import type { Node } from './node.js';

/** A step as far as the next one asks what came before it. */
export interface Arrival {
  readonly node: Node;
  /** The agent's own clock. */
  readonly atMs: number;
}

/** A step whose parent has not come. */
export interface WaitingStep extends Arrival {
  readonly session: Session;
  readonly parentTraceId: string;
  /** By the steady clock. */
  readonly sinceMs: number;
  readonly status: ActionStatus;
  /** The session's step before this one, in order of arrival. */
  readonly previous: Arrival | null;
}

interface Waiting {
  /** Parent's trace id -> its children that came first. */
  awaiting: Map<string, Set<WaitingStep>>;
  /** Subset of the awaiting ones that may still become orphans, in order of arrival. */
  undecided: Set<WaitingStep>;
}

const NO_STEPS: ReadonlySet<WaitingStep> = new Set();

export class Session {
  readonly nodes = new Map<string, Node>();
  /** Null until a step waits: in most sessions none ever does. */
  #waiting: Waiting | null = null;
  /** Of its latest step: here, and not among those of all sessions alone, since it is what the next one names. */
  latestNode: Node | null = null;
  latestTraceId = '';
  latestMs = 0;
  /** When it last moved to the end of the sessions, which are kept by how long they have been silent. */
  movedMs = Number.NEGATIVE_INFINITY;
  isEnded = false;
  isTerminated = false;
  /** By the steady clock. */
  endedMs = 0;

  /** For digests of its trace ids: other sessions may name their steps alike. */
  readonly seed: number;

  /**
   * @param serial no other session's of this map, not even of one with the same id that has left it
   * @param seed nobody else's: who knows it makes digests meet, and each look at a step's ancestors long
   */
  constructor(
    readonly sessionId: string,
    readonly serial: number,
    seed: number,
  ) {
    this.seed = textDigest(sessionId, seed);
  }

  nodeOf(agentId: string): Node | undefined {
    return this.latestNode?.agentId === agentId ? this.latestNode : this.nodes.get(agentId);
  }

  removeNode(node: Node): void {
    this.nodes.delete(node.agentId);
    if (this.latestNode === node) this.latestNode = null;
  }

  get latest(): Arrival | null {
    return this.latestNode && { node: this.latestNode, atMs: this.latestMs };
  }

  awaitParent(step: WaitingStep): void {
    this.#waiting ??= { awaiting: new Map(), undecided: new Set() };
    const { awaiting, undecided } = this.#waiting;
    const children = awaiting.get(step.parentTraceId);
    if (children) children.add(step);
    else awaiting.set(step.parentTraceId, new Set([step]));
    undecided.add(step);
  }

  /** Nothing for one that waits no more. */
  stopAwaiting(step: WaitingStep): void {
    const children = this.#waiting?.awaiting.get(step.parentTraceId);
    if (children?.delete(step) && children.size === 0) this.#waiting?.awaiting.delete(step.parentTraceId);
    this.decided(step);
  }

  isAwaited(traceId: string): boolean {
    return this.#waiting?.awaiting.has(traceId) ?? false;
  }

  /** The children that waited for this step; they wait no more. */
  takeAwaiting(traceId: string): Iterable<WaitingStep> {
    const children = this.#waiting?.awaiting.get(traceId);
    if (children === undefined) return NO_STEPS;
    this.#waiting?.awaiting.delete(traceId);
    for (const child of children) this.decided(child);
    return children;
  }

  /** They wait, and may still become orphans; in order of arrival. */
  get undecided(): ReadonlySet<WaitingStep> {
    return this.#waiting?.undecided ?? NO_STEPS;
  }

  /** It is an orphan, or is none: nobody asks again. */
  decided(step: WaitingStep): void {
    this.#waiting?.undecided.delete(step);
  }

  forgetWaiting(): void {
    this.#waiting = null;
  }
}
