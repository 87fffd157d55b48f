/** What the rules remember of one agent: enough to say whether a condition holds now, and no more. */
import type { AlertEvent } from './alert-event.js';
import { type BudgetShare, type BudgetUse, fullestBudget, isRefusalNews, noteSpend } from './budget-share.js';
import { LOOP_IDLE_MS_MAX, LoopingSessions } from './looping-sessions.js';

type SemanticLoopFact = Omit<AlertEvent & { kind: 'semantic_loop' }, 'kind' | 'tenant_id' | 'agent_id'>;

/** Sessions of one agent listed as waiting for a person; of further ones a notice says that there may be more, and they follow as others end. */
const WAITING_SESSIONS_MAX = 100;

/** What is known of a session's latest semantic loop. */
interface SemanticLoop {
  at_ms: number;
  /** Null: people heard of it before a restart. */
  figures: SemanticLoopFact | null;
}

export class AgentFacts {
  /** Latest call or step; null when only something else was heard of it. */
  seenAtMs: number | null = null;
  /** The same by the steady clock, as are the two below: who sets the wall clock makes nobody silent. */
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
  /** When there was one before a restart; null when none is known of. */
  recalledLoopMs: number | null = null;
  readonly #semanticLoops = new LoopingSessions<SemanticLoop>();
  readonly #looping = new LoopingSessions<{ at_ms: number }>();
  /** In the order in which they asked; no more than there are sessions under control. */
  readonly #waiting = new Set<string>();
  /** Every budget it has; where nothing was heard of them yet, those that refused a call before a restart. */
  #budgets: readonly BudgetUse[] = [];
  #isBudgetKnown = false;

  /** In the order in which they went into a loop; forgets those unheard of for too long. */
  loopingSessions(nowMs: number): readonly string[] {
    this.#looping.forgetIdle(nowMs);
    return [...this.#looping.heardWithin(LOOP_IDLE_MS_MAX, nowMs).keys()];
  }

  /** Sessions that wait for a person, in the order in which they asked: of too many the first. */
  get waitingSessions(): readonly string[] {
    const listed: string[] = [];
    for (const sessionId of this.#waiting) {
      if (listed.length >= WAITING_SESSIONS_MAX) break;
      listed.push(sessionId);
    }
    return listed;
  }

  /** Sessions with a semantic loop within that time, in the order in which they had their first. */
  semanticLoops(windowMs: number, nowMs: number): ReadonlyMap<string, SemanticLoop> {
    return this.#semanticLoops.heardWithin(windowMs, nowMs);
  }

  /** There was a semantic loop before a restart, and people heard of it in these sessions. */
  recallLoop(sessionIds: readonly string[], atMs: number): void {
    this.recalledLoopMs = atMs;
    for (const sessionId of sessionIds) this.#semanticLoops.note(sessionId, { at_ms: atMs, figures: null });
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
        if (event.session_id !== null)
          this.#semanticLoops.note(event.session_id, { at_ms: event.at_ms, figures: event });
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
        return this.#label(event.session_id, !event.ended && event.severity === 'loop', event.at_ms);
      case 'person':
        return this.#await(event.session_id, event.awaited);
      case 'severity':
        return this.#label(event.session_id, event.severity === 'loop', event.at_ms);
    }
  }

  /** Null where it has none; `unknown` where too little was heard of them. */
  fullestBudget(nowMs: number): BudgetShare | null | 'unknown' {
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

  #await(sessionId: string | null, isAwaited: boolean): boolean {
    if (sessionId === null) return false;
    if (!isAwaited) return this.#waiting.delete(sessionId);
    if (this.#waiting.has(sessionId)) return false;
    this.#waiting.add(sessionId);
    return true;
  }

  #label(sessionId: string | null, isLooping: boolean, atMs: number): boolean {
    if (sessionId === null) return false;
    return isLooping ? this.#looping.note(sessionId, { at_ms: atMs }) : this.#looping.delete(sessionId);
  }
}
