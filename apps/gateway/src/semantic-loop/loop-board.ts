/**
 * The open semantic alerts: sessions whose loops came further than a hint, while they go on or are stopped. However many loops
 * others have had since, whoever opens the dashboard is told of them: the store's newest are only the newest.
 * All tenants share one bound. When it is reached the tenant that has most gives way, with the session whose latest loop is oldest.
 */
import {
  countsOn,
  isStoppedState,
  type ProxyStore,
  SEMANTIC_ALERT_OVER_AFTER_MS,
  type SemanticLoopEvent,
  type SessionKey,
  type SessionView,
  sessionKey,
  splitSessionKey,
} from '#contracts';
import { type Clock, FairLru } from '#kernel';

/** Over all tenants. */
const SESSION_COUNT_MAX = 10_000;
/** At a start, of one tenant: what is older than these is found for stopped sessions alone. */
const RECOVERED_COUNT_MAX = 10_000;
const RECOVERY_PAGE_ROWS = 500;
/** Of a stopped session, at a start. */
const SESSION_LOOPS_READ = 50;

const isStopped = ({ ended, control }: SessionView): boolean => !ended && isStoppedState(control.state);

interface OpenAlert {
  first: SemanticLoopEvent;
  latest: SemanticLoopEvent;
}

export class LoopBoard {
  readonly #alerts: FairLru<SessionKey, OpenAlert>;

  constructor(
    private readonly clock: Clock,
    private readonly sessionOf: (key: SessionKey) => SessionView | undefined,
    sessionCountMax = SESSION_COUNT_MAX,
  ) {
    this.#alerts = new FairLru({ countMax: sessionCountMax, idleMs: Number.POSITIVE_INFINITY, clock });
  }

  /** Alerts forgotten because there was no room. */
  get evictedCount(): number {
    return this.#alerts.evicted.capacity;
  }

  /** One loop; without effect where it only was hinted at. Of a session that was over its loop it begins an alert anew, whether or not somebody has looked since. */
  raise(tenantId: string, event: SemanticLoopEvent): void {
    if (event.action !== 'alerted' && event.action !== 'paused') return;
    const key = sessionKey(tenantId, event.session_id);
    const known = this.#alerts.get(tenantId, key);
    if (known !== undefined && countsOn(known.latest, event)) known.latest = event;
    else this.#alerts.set(tenantId, key, { first: event, latest: event });
  }

  /** Of each open alert the first loop and the latest, in no order. */
  open(tenantId: string): SemanticLoopEvent[] {
    const loops = new Map<string, SemanticLoopEvent>();
    for (const [key, { first, latest }] of [...this.#alerts.entries(tenantId)]) {
      if (this.#isOpen(key, latest)) loops.set(first.event_id, first).set(latest.event_id, latest);
      else this.#alerts.delete(tenantId, key);
    }
    return [...loops.values()];
  }

  /** After a restart: of the last minutes, and of sessions that are stopped. Rejects as the store does. */
  async recover(
    store: Pick<ProxyStore, 'semanticLoops'>,
    sessions: Iterable<[SessionKey, SessionView]>,
  ): Promise<void> {
    const tenantIds = new Set<string>();
    const stopped = new Set<SessionKey>();
    for (const [key, view] of sessions) {
      const { tenantId, sessionId } = splitSessionKey(key);
      tenantIds.add(tenantId);
      if (!isStopped(view)) continue;
      stopped.add(key);
      const query = { tenant_id: tenantId, session_id: sessionId, limit: SESSION_LOOPS_READ };
      this.#raiseAll(tenantId, (await store.semanticLoops(query)).items);
    }
    for (const tenantId of tenantIds) {
      const recent = await this.#recent(store, tenantId);
      this.#raiseAll(
        tenantId,
        recent.filter(({ session_id }) => !stopped.has(sessionKey(tenantId, session_id))),
      );
    }
  }

  async #recent(store: Pick<ProxyStore, 'semanticLoops'>, tenant_id: string): Promise<SemanticLoopEvent[]> {
    const recent: SemanticLoopEvent[] = [];
    let cursor: string | null = null;
    do {
      const query = { tenant_id, limit: RECOVERY_PAGE_ROWS, ...(cursor !== null && { cursor }) };
      const page = await store.semanticLoops(query);
      const still = page.items.filter((event) => this.#isRecent(event));
      recent.push(...still);
      cursor = still.length === page.items.length ? page.next_cursor : null;
    } while (cursor !== null && recent.length < RECOVERED_COUNT_MAX);
    return recent;
  }

  /** @param newestFirst raised in their order */
  #raiseAll(tenantId: string, newestFirst: readonly SemanticLoopEvent[]): void {
    for (const event of newestFirst.toReversed()) this.raise(tenantId, event);
  }

  #isOpen(key: SessionKey, latest: SemanticLoopEvent): boolean {
    const view = this.sessionOf(key);
    if (view === undefined) return this.#isRecent(latest);
    return !view.ended && (isStopped(view) || this.#isRecent(latest));
  }

  /** One stamped by a clock that was ahead is no newer than any other. */
  #isRecent({ at_ms }: SemanticLoopEvent): boolean {
    return Math.abs(this.clock.nowMs() - at_ms) < SEMANTIC_ALERT_OVER_AFTER_MS;
  }
}
