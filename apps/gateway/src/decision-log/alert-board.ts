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
  type RaisedAlert,
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

  /** Of a session whose loop was over it begins a group anew, whether or not somebody has looked since. */
  raise(key: SessionKey, event: EntropyAlertEvent): RaisedAlert {
    const tenantId = tenantIdOf(key);
    const known = this.#groups.get(tenantId, key);
    const group = known !== undefined && this.#goesOn(key, known) ? known : undefined;
    const { session_id, agent_id, at_ms } = event;
    const alert_count = (group?.alert_count ?? 0) + 1;
    const first_at_ms = group?.first_at_ms ?? at_ms;
    const latest = { ...event, alert_count, first_at_ms };
    this.#groups.set(tenantId, key, {
      session_id,
      agent_id,
      alert_count,
      first_at_ms,
      last_at_ms: at_ms,
      latest,
    });
    return latest;
  }

  /** Newest alert first. */
  open(tenantId: string): AlertGroup[] {
    const groups: AlertGroup[] = [];
    for (const [key, group] of [...this.#groups.entries(tenantId)]) {
      if (this.#goesOn(key, group)) groups.push(group);
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
      if (group !== null) this.#groups.set(tenantId, key, ofItsLoop(group));
    }
  }

  #goesOn(key: SessionKey, { last_at_ms }: AlertGroup): boolean {
    const view = this.sessionOf(key);
    // One stamped by a clock that was ahead is no newer than any other.
    const isNew = Math.abs(this.clock.nowMs() - last_at_ms) <= GRACE_MS;
    return isNew || (view !== undefined && isOpen(view));
  }
}

/** Of all that a session ever raised, those of its latest loop. */
function ofItsLoop(group: AlertGroup): AlertGroup {
  const { alert_count = group.alert_count, first_at_ms = group.first_at_ms } = group.latest;
  return { ...group, alert_count, first_at_ms };
}
