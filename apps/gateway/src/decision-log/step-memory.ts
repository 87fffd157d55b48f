/**
 * Which steps were seen lately, so that a resent one counts once, and which session a step belongs to.
 * Bounded: the oldest trace ids leave. Behind it the store still finds any step it has, and
 * keeps no second copy.
 */
import { type SessionKey, sessionKey } from '#contracts';
import { OldestEntry } from '#kernel';

/** One seen body of a trace id. */
interface SeenStep {
  readonly sessionId: string;
  readonly bodyHash: string;
  /** Settles when the step is durable; null once it is. */
  commit: Promise<unknown> | null;
  /** Another body that came under the same trace id. */
  next: SeenStep | null;
}

/** Bodies remembered of one trace id, the latest: a sender that uses one for all must not make each look longer. */
export const BODIES_PER_TRACE_MAX = 8;

export type Recognition =
  | { kind: 'new' }
  /** Same trace id, other body: another step, worth a warning. */
  | { kind: 'reused_trace_id' }
  | { kind: 'duplicate'; sessionId: string; commit: Promise<unknown> | null };

export class StepMemory {
  /** Keyed by tenant and trace id; insertion order is age. */
  readonly #seen = new Map<SessionKey, SeenStep>();
  readonly #oldest = new OldestEntry(this.#seen);

  constructor(private readonly traceCountMax: number) {}

  get size(): number {
    return this.#seen.size;
  }

  recognise(tenantId: string, traceId: string, bodyHash: string): Recognition {
    const first = this.#seen.get(sessionKey(tenantId, traceId));
    for (let step: SeenStep | null = first ?? null; step; step = step.next) {
      if (step.bodyHash === bodyHash)
        return { kind: 'duplicate', sessionId: step.sessionId, commit: step.commit };
    }
    return { kind: first ? 'reused_trace_id' : 'new' };
  }

  /** The session of the latest step with this trace id. */
  sessionOf(tenantId: string, traceId: string): string | undefined {
    return this.#seen.get(sessionKey(tenantId, traceId))?.sessionId;
  }

  /** @param commit null for a step that is durable already */
  remember(
    tenantId: string,
    traceId: string,
    sessionId: string,
    bodyHash: string,
    commit: Promise<unknown> | null,
  ): void {
    const key = sessionKey(tenantId, traceId);
    const step: SeenStep = { sessionId, bodyHash, commit, next: this.#seen.get(key) ?? null };
    cutAfter(step, BODIES_PER_TRACE_MAX);
    this.#seen.set(key, step);
    if (this.#seen.size > this.traceCountMax) this.#oldest.take();
    commit?.then(
      () => {
        step.commit = null;
      },
      () => this.#forget(key, step),
    );
  }

  /** A step that could not be stored was never seen: its sender will send it again. */
  #forget(key: SessionKey, step: SeenStep): void {
    const kept: SeenStep[] = [];
    for (let other = this.#seen.get(key) ?? null; other; other = other.next)
      if (other !== step) kept.push(other);
    if (kept.length === 0) this.#seen.delete(key);
    else
      this.#seen.set(
        key,
        kept.reduceRight<SeenStep | null>((next, other) => Object.assign(other, { next }), null) as SeenStep,
      );
  }
}

function cutAfter(first: SeenStep, count: number): void {
  let last = first;
  for (let at = 1; at < count && last.next !== null; at += 1) last = last.next;
  last.next = null;
}
