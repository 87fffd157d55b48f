/** What the rules remember of one agent: enough to say whether a condition holds now, and no more. */
import type { AlertEvent, WaitEnd } from './alert-event.js';
import {
  type BudgetShare,
  type BudgetUse,
  budgetsAsOf,
  fullestBudget,
  isRefusalNews,
  noteSpend,
} from './budget-share.js';
import { LOOP_IDLE_MS_MAX, LoopingSessions } from './looping-sessions.js';

type SemanticLoopFact = Omit<AlertEvent & { kind: 'semantic_loop' }, 'kind' | 'tenant_id' | 'agent_id'>;

/** Sessions of one agent listed as waiting for a person; of further ones a notice says that there may be more, and they follow as others end. */
const WAITING_SESSIONS_MAX = 100;

/** What is known of a session's latest semantic loop. */
interface SemanticLoop {
  steadyMs: number;
  /** Null: people heard of it before a restart. */
  figures: SemanticLoopFact | null;
}

export class AgentFacts {
  /** Latest call or step; null when only something else was heard of it. */
  seenAtMs: number | null = null;
  /** The same by the steady clock, as is all below that says so: who sets the wall clock makes nobody silent and ends no loop. */
  seenSteadyMs = Number.NEGATIVE_INFINITY;
  /** Of that call or step. */
  seenInSessionId: string | null = null;
  /** That session was terminated, and nothing was seen of the agent since but calls of it that ended. */
  isDismissed = false;
  /** Proxied calls under way, held ones among them. */
  runningCallCount = 0;
  /** When the gateway was last known to be what keeps it silent: it held or stopped it. */
  hushedSteadyMs = Number.NEGATIVE_INFINITY;
  /** Since when this process listens for an agent that an earlier one knew: nobody heard whether it was silent before. */
  watchedSteadyMs = Number.NEGATIVE_INFINITY;
  /** The incident that stopped it; null while it may call. */
  incident: (AlertEvent & { kind: 'incident' }) | null = null;
  /** The latest semantic loop; null when none was heard of. */
  semanticLoop: SemanticLoopFact | null = null;
  semanticLoopSteadyMs = Number.NEGATIVE_INFINITY;
  /** When there was one before a restart, at the latest; null when none is known of. */
  recalledLoopSteadyMs: number | null = null;
  readonly #semanticLoops = new LoopingSessions<SemanticLoop>();
  readonly #looping = new LoopingSessions<{ steadyMs: number }>();
  /** In the order in which they asked; no more than there are sessions under control. */
  readonly #waiting = new Map<string, WaitEnd>();
  /** Every budget it has; where nothing was heard of them yet, those that refused a call before a restart. */
  #budgets: readonly BudgetUse[] = [];
  #isBudgetKnown = false;

  /** In the order in which they went into a loop; forgets those unheard of for too long. */
  loopingSessions(nowSteadyMs: number): readonly string[] {
    this.#looping.forgetIdle(nowSteadyMs);
    return [...this.#looping.heardWithin(LOOP_IDLE_MS_MAX, nowSteadyMs).keys()];
  }

  /** Sessions that wait for a person, in the order in which they asked: of too many the first. */
  get waitingSessions(): ReadonlyMap<string, WaitEnd> {
    const listed = new Map<string, WaitEnd>();
    for (const [sessionId, end] of this.#waiting) {
      if (listed.size >= WAITING_SESSIONS_MAX) break;
      listed.set(sessionId, end);
    }
    return listed;
  }

  /** Sessions with a semantic loop within that time, in the order in which they had their first. */
  semanticLoops(windowMs: number, nowSteadyMs: number): ReadonlyMap<string, SemanticLoop> {
    return this.#semanticLoops.heardWithin(windowMs, nowSteadyMs);
  }

  /** It was in a semantic loop before a restart, and people heard of it in these sessions. @param steadyMs of the restart */
  recallLoop(sessionIds: readonly string[], steadyMs: number): void {
    this.recalledLoopSteadyMs = steadyMs;
    for (const sessionId of sessionIds) this.#semanticLoops.note(sessionId, { steadyMs, figures: null });
  }

  /** The budgets that have refused a call, to be kept. */
  get refusals(): readonly BudgetUse[] {
    return this.#budgets.filter(({ refused_at_ms }) => refused_at_ms !== null);
  }

  /** As they were kept before a restart. */
  recallRefusals(refusals: readonly BudgetUse[]): void {
    this.#budgets = refusals;
  }

  /**
   * @param steadyMs when it happened, by the steady clock
   * @returns false if this changes nothing but when it was seen, and what it has spent
   */
  apply(event: AlertEvent, steadyMs: number): boolean {
    switch (event.kind) {
      case 'incident':
        this.incident = event;
        return true;
      case 'reactivated':
        this.incident = null;
        return true;
      case 'semantic_loop':
        this.semanticLoop = event;
        this.semanticLoopSteadyMs = steadyMs;
        if (event.session_id !== null)
          this.#semanticLoops.note(event.session_id, { steadyMs, figures: event });
        return true;
      case 'spend': {
        const isNews = isRefusalNews(this.#budgets, event);
        this.#budgets = noteSpend(this.#budgets, event);
        this.#isBudgetKnown = true;
        return isNews;
      }
      case 'call_began':
        this.runningCallCount += 1;
        return false;
      case 'call':
        this.runningCallCount = Math.max(0, this.runningCallCount - 1);
        this.#see(event, steadyMs, event.terminated);
        return true;
      case 'step':
        this.#see(event, steadyMs);
        return this.#label(event.session_id, !event.ended && event.severity === 'loop', steadyMs);
      case 'person':
        return this.#await(event);
      case 'severity':
        return this.#label(event.session_id, event.severity === 'loop', steadyMs);
    }
  }

  /** Null where it has none; `unknown` where too little was heard of them. */
  fullestBudget(nowMs: number): BudgetShare | null | 'unknown' {
    this.#budgets = budgetsAsOf(nowMs, this.#budgets);
    const fullest = fullestBudget(this.#budgets, nowMs);
    return this.#isBudgetKnown || fullest?.refused === true ? fullest : 'unknown';
  }

  #see({ at_ms, session_id }: AlertEvent, steadyMs: number, isDismissed = false): void {
    // Reckoned from the wall clock, which counts whole milliseconds.
    if (steadyMs <= this.seenSteadyMs - 1) return;
    this.seenAtMs = at_ms;
    this.seenSteadyMs = steadyMs;
    this.seenInSessionId = session_id;
    this.isDismissed = isDismissed;
  }

  #await({
    session_id: sessionId,
    awaited,
    expires_at_ms,
    on_expiry,
  }: AlertEvent & { kind: 'person' }): boolean {
    if (sessionId === null) return false;
    if (!awaited) return this.#waiting.delete(sessionId);
    if (this.#waiting.has(sessionId)) return false;
    this.#waiting.set(sessionId, { expires_at_ms, on_expiry });
    return true;
  }

  #label(sessionId: string | null, isLooping: boolean, steadyMs: number): boolean {
    if (sessionId === null) return false;
    return isLooping ? this.#looping.note(sessionId, { steadyMs }) : this.#looping.delete(sessionId);
  }
}
