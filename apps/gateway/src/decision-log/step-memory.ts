/**
 * Which steps were seen lately, so that a resent one counts once, and which session a step belongs to.
 * Bounded: the oldest trace ids leave. Behind it the store still finds any step it has, and
 * keeps no second copy.
 */
import { type SessionKey, sessionKey } from '#contracts';
import { type Deferred, deferred, OldestEntry } from '#kernel';

/** One seen body of a trace id. */
interface SeenStep {
  readonly sessionId: string;
  readonly bodyHash: string;
  /** Settles when the step is durable; null once it is. */
  commit: Promise<void> | null;
  /** Another body that came under the same trace id. */
  next: SeenStep | null;
}

/** Bodies remembered of one trace id, the latest: a sender that uses one for all must not make each look longer. */
export const BODIES_PER_TRACE_MAX = 8;

export type Recognition =
  | { kind: 'new' }
  /** Same trace id, other body: another step, worth a warning. */
  | { kind: 'reused_trace_id' }
  | { kind: 'duplicate'; sessionId: string; commit: Promise<void> | null };

/** Steps that become durable together, or not at all: one outcome for all, and nothing that waits for it per step. */
export class OpenCommit {
  readonly #memory: StepMemory;
  readonly #outcome: Deferred = deferred();
  readonly #keys: SessionKey[] = [];
  readonly #steps: SeenStep[] = [];

  constructor(memory: StepMemory) {
    this.#memory = memory;
    // Only a copy that waits for it cares; otherwise the failure is its request's own answer.
    this.#outcome.promise.catch(() => {});
  }

  get promise(): Promise<void> {
    return this.#outcome.promise;
  }

  /** For the memory alone. */
  add(key: SessionKey, step: SeenStep): void {
    this.#keys.push(key);
    this.#steps.push(step);
  }

  succeed(): void {
    for (const step of this.#steps) step.commit = null;
    this.#outcome.resolve();
  }

  /** Its steps were never seen: their sender will send them again. */
  fail(reason: unknown): void {
    for (const [at, step] of this.#steps.entries()) this.#memory.forget(this.#keys[at] as SessionKey, step);
    this.#outcome.reject(reason);
  }
}

export class StepMemory {
  /** Keyed by tenant and trace id; insertion order is age. */
  readonly #seen = new Map<SessionKey, SeenStep>();
  readonly #oldest = new OldestEntry(this.#seen);

  constructor(private readonly traceCountMax: number) {}

  get size(): number {
    return this.#seen.size;
  }

  /** @param key of tenant and trace id */
  recognise(key: SessionKey, bodyHash: string): Recognition {
    const first = this.#seen.get(key);
    if (first === undefined) return NEW;
    for (let step: SeenStep | null = first; step; step = step.next) {
      if (step.bodyHash === bodyHash)
        return { kind: 'duplicate', sessionId: step.sessionId, commit: step.commit };
    }
    return REUSED;
  }

  /** The session of the latest step with this trace id. */
  sessionOf(tenantId: string, traceId: string): string | undefined {
    return this.#seen.get(sessionKey(tenantId, traceId))?.sessionId;
  }

  /**
   * @param key of tenant and trace id
   * @param commit null for a step that is durable already
   */
  remember(key: SessionKey, sessionId: string, bodyHash: string, commit: OpenCommit | null): void {
    const next = this.#seen.get(key) ?? null;
    const step: SeenStep = { sessionId, bodyHash, commit: commit?.promise ?? null, next };
    if (next !== null) cutAfter(step, BODIES_PER_TRACE_MAX);
    this.#seen.set(key, step);
    if (this.#seen.size > this.traceCountMax) this.#oldest.take();
    commit?.add(key, step);
  }

  forget(key: SessionKey, step: SeenStep): void {
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

const NEW: Recognition = { kind: 'new' };
const REUSED: Recognition = { kind: 'reused_trace_id' };

function cutAfter(first: SeenStep, count: number): void {
  let last = first;
  for (let at = 1; at < count && last.next !== null; at += 1) last = last.next;
  last.next = null;
}
