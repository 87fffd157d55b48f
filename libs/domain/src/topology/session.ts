/** What the map remembers of one session: its nodes, its latest steps, and the steps that wait for their parent. */
import { OldestEntry } from '#kernel';
import type { Node } from './node.js';

/** A step as far as causality goes. */
export interface Step {
  readonly traceId: string;
  /** Null for a root, and for a step whose parent was refused as a cycle. */
  readonly parentTraceId: string | null;
  readonly node: Node;
  /** The agent's own clock. */
  readonly atMs: number;
  readonly receivedAtMs: number;
  readonly status: string;
  /** The session's step before this one, in order of arrival; dropped once this step has found its place. */
  previous: { node: Node; atMs: number } | null;
}

const NO_STEPS: readonly Step[] = [];

export class Session {
  readonly nodes = new Map<string, Node>();
  /** By trace id, oldest first; the latest step under a reused id. Bounded. */
  readonly steps = new Map<string, Step>();
  readonly #oldest = new OldestEntry(this.steps);
  /** One of them, remembered last. */
  #latestStep: Step | null = null;
  /** Parent's trace id -> its children that came first. Every one of them is in `steps` too. */
  readonly awaiting = new Map<string, Set<Step>>();
  /** Subset of the awaiting ones that may still become orphans, in order of arrival. */
  readonly undecided = new Set<Step>();
  latest: { node: Node; atMs: number } | null = null;
  /** When it last moved to the end of the sessions, which are kept by how long they have been silent. */
  movedMs = Number.NEGATIVE_INFINITY;
  isEnded = false;
  isTerminated = false;
  endedAtMs = 0;

  constructor(readonly sessionId: string) {}

  /** A remembered step; the latest, which most steps follow, is found without a look among all. */
  stepOf(traceId: string): Step | undefined {
    return this.#latestStep?.traceId === traceId ? this.#latestStep : this.steps.get(traceId);
  }

  /**
   * Remembers a step, in place of an earlier one with its trace id.
   *
   * @param isKnown there is such an earlier one
   * @returns by how many steps there are more now
   */
  remember(step: Step, isKnown: boolean, countMax: number): number {
    const before = this.steps.size;
    const replaced = isKnown ? this.steps.get(step.traceId) : undefined;
    if (replaced) this.#forget(replaced);
    this.steps.set(step.traceId, step);
    this.#latestStep = step;
    const oldest = this.steps.size > countMax ? this.#oldest.take() : undefined;
    if (oldest) this.#forget(oldest[1]);
    return this.steps.size - before;
  }

  #forget(step: Step): void {
    if (this.#latestStep === step) this.#latestStep = null;
    this.steps.delete(step.traceId);
    this.#stopAwaiting(step);
    this.undecided.delete(step);
  }

  awaitParent(step: Step): void {
    const parent = step.parentTraceId as string;
    const children = this.awaiting.get(parent);
    if (children) children.add(step);
    else this.awaiting.set(parent, new Set([step]));
    this.undecided.add(step);
  }

  #stopAwaiting(step: Step): void {
    if (step.parentTraceId === null) return;
    const children = this.awaiting.get(step.parentTraceId);
    if (children?.delete(step) && children.size === 0) this.awaiting.delete(step.parentTraceId);
  }

  /** The children that waited for this step; they wait no more. */
  takeAwaiting(traceId: string): Iterable<Step> {
    const children = this.awaiting.size === 0 ? undefined : this.awaiting.get(traceId);
    if (children === undefined) return NO_STEPS;
    this.awaiting.delete(traceId);
    for (const child of children) this.undecided.delete(child);
    return children;
  }

  forgetSteps(): void {
    this.#latestStep = null;
    this.steps.clear();
    this.awaiting.clear();
    this.undecided.clear();
  }

  /**
   * True when `traceId`, were it a child of `parentTraceId`, would be among its own ancestors. Only a trace id that
   * is known or awaited can be, so that a long plain chain is not walked at every step.
   *
   * @param isKnown `traceId` is remembered
   */
  wouldCycle(traceId: string, parentTraceId: string, isKnown: boolean): boolean {
    if (traceId === parentTraceId) return true;
    const isAwaited = this.awaiting.size > 0 && this.awaiting.has(traceId);
    if (!isAwaited && !isKnown) return false;
    let ancestor: string | null = parentTraceId;
    for (let hops = 0; ancestor !== null && hops <= this.steps.size; hops += 1) {
      if (ancestor === traceId) return true;
      ancestor = this.steps.get(ancestor)?.parentTraceId ?? null;
    }
    return false;
  }
}
