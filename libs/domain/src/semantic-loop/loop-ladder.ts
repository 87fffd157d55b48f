/**
 * How far a session has climbed: what to do about its first loop, its second and all that follow.
 *
 *     policy   1st      2nd       3rd and later
 *     hint     hinted   hinted    hinted
 *     alert    hinted   alerted   alerted
 *     pause    hinted   alerted   paused
 *
 * Counts loops, not prompts: a session that goes on for an hour without one starts at the first step again. Not so one that
 * went on over a restart, where somebody knows how far it was.
 */
import { type SemanticLoopAction, type SemanticLoopPolicy, type SessionKey, tenantIdOf } from '#contracts';
import { type Clock, FairLru } from '#kernel';

const LADDER_SESSION_COUNT_MAX = 50_000;
/** A session without a loop for longer than this is forgotten. */
export const LADDER_IDLE_MS = 3_600_000;

const STEPS: Record<
  Exclude<SemanticLoopPolicy, 'off'>,
  readonly [SemanticLoopAction, ...SemanticLoopAction[]]
> = {
  hint: ['hinted'],
  alert: ['hinted', 'alerted'],
  pause: ['hinted', 'alerted', 'paused'],
};

export interface LoopLadderOptions {
  clock: Clock;
  /** Sessions with loops remembered; beyond it the least recent of the tenant that has most is forgotten and starts again. */
  sessionCountMax?: number;
}

export class LoopLadder {
  readonly #counts: FairLru<SessionKey, number>;

  constructor({ clock, sessionCountMax = LADDER_SESSION_COUNT_MAX }: LoopLadderOptions) {
    this.#counts = new FairLru({ countMax: sessionCountMax, idleMs: LADDER_IDLE_MS, clock });
  }

  get sessionCount(): number {
    return this.#counts.size;
  }

  /** Sessions forgotten because there was no room. */
  get evictedCount(): number {
    return this.#counts.evicted.capacity;
  }

  /** Counts one loop of this session and says what to do about it. Once for each loop; O(1). */
  decide(policy: Exclude<SemanticLoopPolicy, 'off'>, session: SessionKey): SemanticLoopAction {
    const tenantId = tenantIdOf(session);
    const count = (this.#counts.get(tenantId, session) ?? 0) + 1;
    this.#counts.set(tenantId, session, count);
    const steps = STEPS[policy];
    return steps[Math.min(count, steps.length) - 1] ?? steps[0];
  }

  /** How far a session was that is not known here; without effect where it is. */
  restore(session: SessionKey, count: number): void {
    if (this.occurrences(session) === 0) this.#counts.set(tenantIdOf(session), session, count);
  }

  /** Loops counted in this session, the one just decided on included; 0 without one. */
  occurrences(session: SessionKey): number {
    return this.#counts.peek(tenantIdOf(session), session) ?? 0;
  }
}
