/** What the rules remember of one agent: enough to say whether a condition holds now, and no more. */
import type { AlertEvent } from './alert-event.js';
import { type BudgetShare, type BudgetUse, fullestBudget, noteSpend } from './budget-share.js';

type SemanticLoopFact = Omit<AlertEvent & { kind: 'semantic_loop' }, 'kind' | 'tenant_id' | 'agent_id'>;

/** Looping sessions listed; a further one is listed, and told, when there is room. A notice says that they may be more. */
export const LOOPING_SESSIONS_PER_AGENT_MAX = 100;
/**
 * A session unheard of for this long is in a loop no more: an agent that was killed in the middle of one says no goodbye,
 * and what it left must not stand for its later loops.
 */
export const LOOP_IDLE_MS_MAX = 10 * 60_000;

export class AgentFacts {
  /** Latest call or step; null when only something else was heard of it. */
  seenAtMs: number | null = null;
  /** Since when this process listens for an agent that an earlier one knew: nobody heard whether it was silent before. */
  watchedSinceMs = 0;
  /** The incident that stopped it; null while it may call. */
  incident: (AlertEvent & { kind: 'incident' }) | null = null;
  /** The latest semantic loop; null when none was heard of. */
  semanticLoop: SemanticLoopFact | null = null;
  /** When there was one before a restart; null when none is known of. */
  recalledLoopMs: number | null = null;
  /** Session in a loop -> when it was last heard of; in the order in which they went into one. */
  readonly #looping = new Map<string, number>();
  /** Every budget it has; null when nothing was heard of them. */
  #budgets: readonly BudgetUse[] | null = null;

  /** In the order in which they went into a loop; forgets those unheard of for too long. */
  loopingSessions(nowMs: number): readonly string[] {
    this.#forgetIdle(nowMs);
    return [...this.#looping.keys()];
  }

  /** @returns false if this changes nothing but when it was seen */
  apply(event: AlertEvent): boolean {
    switch (event.kind) {
      case 'incident':
        this.incident = event;
        return true;
      case 'reactivated':
        this.incident = null;
        return true;
      case 'semantic_loop':
        this.semanticLoop = event;
        return true;
      case 'spend':
        this.#budgets = noteSpend(this.#budgets ?? [], event);
        return true;
      case 'call':
        this.seenAtMs = Math.max(this.seenAtMs ?? 0, event.at_ms);
        return true;
      case 'step':
        this.seenAtMs = Math.max(this.seenAtMs ?? 0, event.at_ms);
        return this.#label(event.session_id, !event.ended && event.severity === 'loop', event.at_ms);
      case 'severity':
        return this.#label(event.session_id, event.severity === 'loop', event.at_ms);
    }
  }

  /** Null where it has none; `unknown` where nothing was heard of them. */
  fullestBudget(nowMs: number): BudgetShare | null | 'unknown' {
    return this.#budgets === null ? 'unknown' : fullestBudget(this.#budgets, nowMs);
  }

  #forgetIdle(nowMs: number): void {
    for (const [sessionId, atMs] of this.#looping)
      if (nowMs - atMs >= LOOP_IDLE_MS_MAX) this.#looping.delete(sessionId);
  }

  #label(sessionId: string | null, isLooping: boolean, atMs: number): boolean {
    if (sessionId === null) return false;
    if (!isLooping) return this.#looping.delete(sessionId);
    const knownMs = this.#looping.get(sessionId);
    if (knownMs !== undefined && atMs - knownMs < LOOP_IDLE_MS_MAX) {
      this.#looping.set(sessionId, Math.max(knownMs, atMs));
      return false;
    }
    this.#looping.delete(sessionId);
    // Who is listed stays: if the newest took the place of the oldest, each would be news again with its next step.
    const isFull = () => this.#looping.size >= LOOPING_SESSIONS_PER_AGENT_MAX;
    if (isFull()) this.#forgetIdle(atMs);
    if (isFull()) return false;
    this.#looping.set(sessionId, atMs);
    return true;
  }
}
