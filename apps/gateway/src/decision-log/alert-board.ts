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
  type SessionKey,
  type SessionView,
  splitSessionKey,
} from '#contracts';
import { type Clock, TtlLru } from '#kernel';

/** Over all tenants. */
export const GROUP_COUNT_MAX = 10_000;
/** An alert is raised before its step is stored and its session's row says so. */
const GRACE_MS = 10_000;

const STOPPED: ReadonlySet<string> = new Set(['pause_requested', 'paused', 'expired']);

const isOpen = (view: SessionView): boolean =>
  !view.ended && (view.severity === 'loop' || STOPPED.has(view.control.state));

/** Of one tenant, the one whose latest alert is oldest first. */
type Groups = TtlLru<SessionKey, AlertGroup>;

export class AlertBoard {
  /** Tenants with a group only. */
  readonly #byTenant = new Map<string, Groups>();
  #count = 0;

  constructor(
    private readonly clock: Clock,
    private readonly sessionOf: (key: SessionKey) => SessionView | undefined,
    private readonly onGaveWay: () => void,
  ) {}

  raise(key: SessionKey, event: EntropyAlertEvent): void {
    const group = this.#byTenant.get(splitSessionKey(key).tenantId)?.get(key);
    if (group === undefined) {
      const { session_id, agent_id, at_ms } = event;
      this.#add(key, {
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
    for (const [key, group] of [...(this.#byTenant.get(tenantId)?.entries() ?? [])]) {
      const view = this.sessionOf(key);
      if (nowMs - group.last_at_ms <= GRACE_MS || (view !== undefined && isOpen(view)))
        groups.push({ ...group });
      else this.#remove(tenantId, key);
    }
    return groups.sort((a, b) => b.last_at_ms - a.last_at_ms);
  }

  /** After a restart: the groups of sessions that are still open. */
  async recover(store: DecisionStore, sessions: Iterable<[SessionKey, SessionView]>): Promise<void> {
    for (const [key, view] of sessions) {
      if (!isOpen(view)) continue;
      const { tenantId, sessionId } = splitSessionKey(key);
      const group = await store.alertGroup(tenantId, sessionId);
      if (group !== null) this.#add(key, group);
    }
  }

  #add(key: SessionKey, group: AlertGroup): void {
    const { tenantId } = splitSessionKey(key);
    let groups = this.#byTenant.get(tenantId);
    if (groups === undefined) {
      groups = new TtlLru({
        countMax: GROUP_COUNT_MAX + 1,
        idleMs: Number.POSITIVE_INFINITY,
        clock: this.clock,
      });
      this.#byTenant.set(tenantId, groups);
    }
    this.#count -= groups.size;
    groups.set(key, group);
    this.#count += groups.size;
    if (this.#count <= GROUP_COUNT_MAX) return;
    const [most, theirs] = this.#largest(tenantId, groups);
    const [oldest] = theirs.entries().next().value as [SessionKey, AlertGroup];
    this.#remove(most, oldest);
    this.onGaveWay();
  }

  /** A tenant that has more than half is the one, without a look at the others: a flood is cheap. */
  #largest(tenantId: string, groups: Groups): [string, Groups] {
    let largest: [string, Groups] = [tenantId, groups];
    if (groups.size * 2 > this.#count) return largest;
    for (const entry of this.#byTenant) if (entry[1].size > largest[1].size) largest = entry;
    return largest;
  }

  #remove(tenantId: string, key: SessionKey): void {
    const groups = this.#byTenant.get(tenantId);
    if (!groups?.delete(key)) return;
    this.#count -= 1;
    if (groups.size === 0) this.#byTenant.delete(tenantId);
  }
}
