/**
 * What sessions had used of their caps before anybody counted: caps hold over a restart, and for a session that is under way when
 * they are set. It is read in the stored calls when such a session calls for the first time, and no more once every session of then
 * would have been forgotten as idle.
 */
import {
  type AgentPolicy,
  type LlmCall,
  type ProxyStore,
  type SessionKey,
  splitSessionKey,
  USED_DECISIONS,
  wasUsed,
} from '#contracts';
import {
  hasSessionCap,
  SESSION_IDLE_MS,
  type SessionCaps,
  type SessionUse,
  toMicroUsd,
} from '#domain/policy';
import { type Clock, FreshReads } from '#kernel';
import type { CallLog } from '../calls/call-log.js';

/** Calls read at once. */
const PAGE_CALLS = 200;
/** Of one session, the latest: a longer one has used those at least. */
const PAGES_MAX = 100;

export interface EarlierUseParts {
  store: Pick<ProxyStore, 'calls'>;
  /** Calls that have ended and are not stored yet. */
  log: Pick<CallLog, 'flush'>;
  caps: Pick<SessionCaps, 'look' | 'restore'>;
  clock: Clock;
}

export class EarlierUse {
  readonly #parts: EarlierUseParts;
  readonly #beganMs: number;
  readonly #reads = new FreshReads<SessionKey>();

  constructor(parts: EarlierUseParts) {
    this.#parts = parts;
    this.#beganMs = parts.clock.nowMs();
  }

  /** Hot path. The session has caps, and may have called before this process did anything, or before they were set. */
  mayHave(session: SessionKey, policy: AgentPolicy): boolean {
    if (!hasSessionCap(policy)) return false;
    const { caps, clock } = this.#parts;
    const countedFromMs = Math.max(this.#beganMs, policy.updated_at_ms ?? 0);
    return clock.nowMs() - countedFromMs < SESSION_IDLE_MS && caps.look(session) === null;
  }

  /** Rejects as the store does. */
  async restore(session: SessionKey): Promise<void> {
    // No more often than calls are under way: whoever calls in this session waits, too.
    const read = async () => {
      await this.#parts.log.flush();
      return this.#read(session);
    };
    await this.#reads.read(session, read, (use) => {
      if (use !== null) this.#parts.caps.restore(session, use);
    });
  }

  /** A call that no cap has counted is over, and about to be recorded: it is not in what is being read, or not for sure. */
  noteUncounted(session: SessionKey): void {
    this.#reads.changed(session);
  }

  /** Back to where the session had been idle for so long that its caps began anew, a span of that length at a time. */
  async #read(session: SessionKey): Promise<SessionUse | null> {
    const { store, clock } = this.#parts;
    const { tenantId, sessionId } = splitSessionKey(session);
    let use: SessionUse | null = null;
    // Not to now: the clock may have been ahead.
    let toMs: number | undefined;
    let fromMs = clock.nowMs() + 1 - SESSION_IDLE_MS;
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const { items, next_cursor } = await store.calls({
        tenant_id: tenantId,
        session_id: sessionId,
        // What was refused does not count, and a session at its cap may have asked without end.
        decisions: USED_DECISIONS,
        from_ms: fromMs,
        to_ms: toMs,
        limit: PAGE_CALLS,
        cursor,
      });
      for (const call of items) if (wasUsed(call)) use = added(use, call);
      cursor = next_cursor ?? undefined;
      if (cursor !== undefined) continue;
      if (use === null || use.firstCallMs - SESSION_IDLE_MS >= fromMs) return use;
      toMs = fromMs;
      fromMs = use.firstCallMs - SESSION_IDLE_MS;
    }
    return use;
  }
}

const added = (use: SessionUse | null, { cost_usd, started_at_ms }: LlmCall): SessionUse => ({
  callCount: (use?.callCount ?? 0) + 1,
  costMicroUsd: (use?.costMicroUsd ?? 0) + toMicroUsd(cost_usd ?? 0),
  firstCallMs: Math.min(use?.firstCallMs ?? started_at_ms, started_at_ms),
});
