/**
 * The open entropy alerts, one group per session: the snapshot of `gateway:entropy_alerts`. A group stays
 * while its session is in a loop or stopped, so that nobody misses it by opening the page late.
 * All tenants share one bound. When it is reached the tenant that has most gives way, with the group whose latest alert
 * is oldest: however much loops elsewhere, a tenant with few keeps them.
 */
import {
  type AlertGroup,
  type DecisionStore,
  type EntropyAlertEvent,
  isStoppedState,
  type SessionKey,
  type SessionView,
  splitSessionKey,
  tenantIdOf,
} from '#contracts';
import { type Clock, FairLru } from '#kernel';

/** Over all tenants. */
export const GROUP_COUNT_MAX = 10_000;
/** An alert is raised before its step is stored and its session's row says so. */
const GRACE_MS = 10_000;

const isOpen = (view: SessionView): boolean =>
  !view.ended && (view.severity === 'loop' || isStoppedState(view.control.state));

export class AlertBoard {
  /** Of one tenant, the one whose latest alert is oldest first. */
  readonly #groups: FairLru<SessionKey, AlertGroup>;

  constructor(
    private readonly clock: Clock,
    private readonly sessionOf: (key: SessionKey) => SessionView | undefined,
    onGaveWay: () => void,
  ) {
    this.#groups = new FairLru({
      countMax: GROUP_COUNT_MAX,
      idleMs: Number.POSITIVE_INFINITY,
      clock,
      onEvict: onGaveWay,
    });
  }

  raise(key: SessionKey, event: EntropyAlertEvent): void {
    const tenantId = tenantIdOf(key);
    const group = this.#groups.get(tenantId, key);
    if (group === undefined) {
      const { session_id, agent_id, at_ms } = event;
      this.#groups.set(tenantId, key, {
        session_id,
        agent_id,
        alert_count: 1,
        first_at_ms: at_ms,
        last_at_ms: at_ms,
        latest: event,
      });
      return;
    }
    group.alert_count += 1;
    group.last_at_ms = event.at_ms;
    group.agent_id = event.agent_id;
    group.latest = event;
  }

  /** Newest alert first. */
  open(tenantId: string): AlertGroup[] {
    const groups: AlertGroup[] = [];
    const nowMs = this.clock.nowMs();
    for (const [key, group] of [...this.#groups.entries(tenantId)]) {
      const view = this.sessionOf(key);
      // One stamped by a clock that was ahead is no newer than any other.
      const isNew = Math.abs(nowMs - group.last_at_ms) <= GRACE_MS;
      if (isNew || (view !== undefined && isOpen(view))) groups.push({ ...group });
      else this.#groups.delete(tenantId, key);
    }
    return groups.sort((a, b) => b.last_at_ms - a.last_at_ms);
  }

  /** After a restart: the groups of sessions that are still open. */
  async recover(store: DecisionStore, sessions: Iterable<[SessionKey, SessionView]>): Promise<void> {
    for (const [key, view] of sessions) {
      if (!isOpen(view)) continue;
      const { tenantId, sessionId } = splitSessionKey(key);
      const group = await store.alertGroup(tenantId, sessionId);
      if (group !== null) this.#groups.set(tenantId, key, group);
    }
  }
}
