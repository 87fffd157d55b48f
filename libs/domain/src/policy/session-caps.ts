/**
 * What a session has used against its policy's caps: calls, money, and time since its first call. Decide, then
 * record in the same turn, so that calls in parallel see each other; settle once the call is over. In memory; what a session
 * used before this process began is brought back with `restore`.
 */
import { type AgentLimits, type SessionKey, tenantIdOf } from '#contracts';
import { type Clock, DAY_MS, FairLru, MINUTE_MS } from '#kernel';
import { toMicroUsd, UNKNOWN_COST_MICRO_USD } from './limit-windows.js';

const SESSION_COUNT_MAX = 100_000;
/** A session without calls for this long is forgotten. */
export const SESSION_IDLE_MS = DAY_MS;

export interface SessionUse {
  callCount: number;
  /** Includes estimates of calls under way. Calls of unknown cost add nothing. */
  costMicroUsd: number;
  firstCallMs: number;
}

export type SessionCap = 'session_calls_max' | 'session_cost_usd_max' | 'session_minutes_max';

/** Minutes pass by the clock that nobody sets: what it was at the first call. */
interface TimedUse extends SessionUse {
  firstCallSteadyMs: number;
}

/** Final for the session: no waiting helps. */
export type SessionCapDecision = { allowed: true } | { allowed: false; cap: SessionCap };

/** Of one call. */
export interface SessionCharge {
  /** 1; 0 for a call that is given back. */
  calls: number;
  /** Null: unknown. */
  costMicroUsd: number | null;
}

export interface SessionCapsOptions {
  clock: Clock;
  /** Sessions remembered; beyond it the least recent of the tenant that has most is forgotten and starts again at zero. */
  sessionCountMax?: number;
  /** A session without calls for this long is forgotten. */
  idleMs?: number;
}

/** Hot path. */
export const hasSessionCap = (limits: Pick<AgentLimits, SessionCap>): boolean =>
  limits.session_calls_max !== null ||
  limits.session_cost_usd_max !== null ||
  limits.session_minutes_max !== null;

const ALLOWED: SessionCapDecision = { allowed: true };

export class SessionCaps {
  readonly #clock: Clock;
  readonly #sessions: FairLru<SessionKey, TimedUse>;

  constructor({ clock, sessionCountMax = SESSION_COUNT_MAX, idleMs = SESSION_IDLE_MS }: SessionCapsOptions) {
    this.#clock = clock;
    this.#sessions = new FairLru({
      countMax: sessionCountMax,
      idleMs,
      clock,
    });
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Sessions forgotten because there was no room. */
  get evictedCount(): number {
    return this.#sessions.evicted.capacity;
  }

  /** Hot path; changes nothing. May one more call of this cost be made? One that costs nothing is held back by no cost. */
  decide(session: SessionKey, limits: AgentLimits, costMicroUsd: number | null): SessionCapDecision {
    if (!hasSessionCap(limits)) return ALLOWED;
    const { session_calls_max, session_cost_usd_max, session_minutes_max } = limits;
    const use = this.#sessions.peek(tenantIdOf(session), session);
    if (session_calls_max !== null && (use?.callCount ?? 0) >= session_calls_max)
      return { allowed: false, cap: 'session_calls_max' };
    if (
      session_cost_usd_max !== null &&
      costMicroUsd !== 0 &&
      (use?.costMicroUsd ?? 0) + (costMicroUsd ?? UNKNOWN_COST_MICRO_USD) > toMicroUsd(session_cost_usd_max)
    )
      return { allowed: false, cap: 'session_cost_usd_max' };
    if (
      session_minutes_max !== null &&
      use !== undefined &&
      this.#clock.steadyMs() - use.firstCallSteadyMs >= session_minutes_max * MINUTE_MS
    )
      return { allowed: false, cap: 'session_minutes_max' };
    return ALLOWED;
  }

  /** Hot path: counts a call that is about to be made, with its estimate. */
  record(session: SessionKey, costMicroUsd: number | null): void {
    const use = this.#sessions.get(tenantIdOf(session), session);
    if (use === undefined) {
      this.#begin(session, {
        callCount: 1,
        costMicroUsd: costMicroUsd ?? 0,
        firstCallMs: this.#clock.nowMs(),
      });
      return;
    }
    use.callCount += 1;
    use.costMicroUsd += costMicroUsd ?? 0;
  }

  /**
   * Puts what a recorded call really used in the place of its estimate; zero calls and cost give it back. An unknown
   * real cost adds nothing. Time is not given back. Nothing happens for a session that was forgotten meanwhile.
   */
  settle(session: SessionKey, estimatedMicroUsd: number | null, real: SessionCharge): void {
    const use = this.#sessions.peek(tenantIdOf(session), session);
    if (use === undefined) return;
    use.callCount = Math.max(0, use.callCount + real.calls - 1);
    const change = (real.costMicroUsd ?? 0) - (estimatedMicroUsd ?? 0);
    use.costMicroUsd = Math.max(0, use.costMicroUsd + change);
  }

  /** Brings back what a session had used. Nothing happens for one that is known: it has been brought back, or has called since. */
  restore(session: SessionKey, use: SessionUse): void {
    if (this.look(session) === null) this.#begin(session, use);
  }

  /** Before this process only the wall clock tells when that was; what is to come counts as now. */
  #begin(session: SessionKey, { callCount, costMicroUsd, firstCallMs }: SessionUse): void {
    const agoMs = Math.max(0, this.#clock.nowMs() - firstCallMs);
    const firstCallSteadyMs = this.#clock.steadyMs() - agoMs;
    // Written out: V8 gives each object that is spread and then extended a shape of its own, which every call would look up anew.
    const use: TimedUse = { callCount, costMicroUsd, firstCallMs, firstCallSteadyMs };
    this.#sessions.set(tenantIdOf(session), session, use);
  }

  /** Null: unknown or forgotten. */
  look(session: SessionKey): Readonly<SessionUse> | null {
    return this.#sessions.peek(tenantIdOf(session), session) ?? null;
  }
}
