/**
 * The life of an incident: the agent is deactivated, the evidence kept, people told; and its end, when an operator
 * reactivates the agent, which forgets the windows so that it starts afresh.
 */
import {
  type AgentScope,
  agentScope,
  type Incident,
  type LivePublisher,
  type ProxyStore,
  TOPICS,
} from '#contracts';
import type { KillSwitchWindows } from '#domain/kill-switch';
import { BackgroundWork, type Timer } from '#kernel';
import type { AlertMonitor } from '../../alerts/alert-monitor.js';
import type { Auditor } from '../../auth/settings-audit.js';
import { FairShare } from '../../fair-share.js';
import { UnsavedWrites } from '../../unsaved-writes.js';
import type { ProxyEvents } from '../proxy-events.js';
import type { AgentDirectory, Reactivation, ReactivationParts } from './agent-directory.js';
import { windowPrefix } from './window-key.js';

export interface IncidentDeskParts {
  agents: AgentDirectory;
  windows: Pick<KillSwitchWindows, 'forgetWhere'>;
  store: Pick<ProxyStore, 'appendIncident' | 'incidents'>;
  live: LivePublisher;
  alerts: Pick<AlertMonitor, 'note'>;
  events: Pick<ProxyEvents, 'killed' | 'incidentUnsaved' | 'incidentLost'>;
  timer: Timer;
  nowMs: () => number;
}

/** Incidents shown at once in the live snapshot. */
const SNAPSHOT_COUNT = 50;
/**
 * Incidents kept in memory while the store refuses them, half of them per tenant, so that none fills it with its own; a further
 * one is shown to who looks on, and lost.
 */
export const UNSAVED_INCIDENTS_MAX = 500;

const incidentKey = (scope: AgentScope, incidentId: string): string => `${scope}\0${incidentId}`;

export class IncidentDesk {
  readonly #parts: IncidentDeskParts;
  /** Incidents on their way to the store. */
  readonly #writing = new BackgroundWork();
  /** Under `incidentKey`. */
  readonly #unsaved: UnsavedWrites<string>;
  readonly #places: FairShare;
  /** To be set: the kill switch fired. Must not throw. */
  onOpened: (tenantId: string, incident: Incident) => void = () => {};

  constructor(parts: IncidentDeskParts) {
    this.#parts = parts;
    this.#unsaved = new UnsavedWrites(parts.timer);
    this.#places = new FairShare({ max: UNSAVED_INCIDENTS_MAX, onFull: () => parts.events.incidentLost() });
  }

  /**
   * At once in force and told. Resolves when it is kept, so that the next start stops the agent, too, or when the store has
   * refused it for now. Never rejects.
   */
  open(tenantId: string, incident: Incident): Promise<unknown> {
    const { agents, store, live, alerts, events } = this.#parts;
    agents.deactivateByKillSwitch(agentScope(tenantId, incident.agent_id), incident);
    events.killed(tenantId, incident);
    this.onOpened(tenantId, incident);
    alerts.note({
      kind: 'incident',
      tenant_id: tenantId,
      agent_id: incident.agent_id,
      session_id: incident.session_id,
      at_ms: incident.at_ms,
      score: incident.breakdown.score,
      threshold: incident.threshold,
      incident_id: incident.incident_id,
    });
    const key = incidentKey(agentScope(tenantId, incident.agent_id), incident.incident_id);
    const write = async () => {
      const seq = await store.appendIncident(tenantId, incident);
      if (this.#unsaved.delete(key)) this.#places.giveBack(tenantId, 1);
      live.publish(tenantId, TOPICS.incidents, { ...incident, seq });
    };
    const written = write().catch((error: unknown) => {
      if (this.#places.take(tenantId, 1)) this.#unsaved.add(key, write);
      events.incidentUnsaved(incident.incident_id, error);
      live.publish(tenantId, TOPICS.incidents, incident);
    });
    return this.#writing.add(written);
  }

  /** Resolves when every incident opened so far is kept, or told as unsaved: such a one is written again until it is kept. */
  settled(): Promise<void> {
    return this.#writing.settled();
  }

  /** What the store has refused is tried again: the next start stops whose incident is kept, and nobody else. Never rejects. */
  async stop(): Promise<void> {
    await this.settled();
    await this.#unsaved.stop();
  }

  /** Rejects as the store does. */
  async reactivate(
    by: Auditor & { tenant_id: string },
    agentId: string,
    change: ReactivationParts = {},
  ): Promise<Reactivation> {
    const { agents, store, live } = this.#parts;
    const scope = agentScope(by.tenant_id, agentId);
    const { seen = agents.seen(scope) } = change;
    // What is not in the store could not be closed there, and would be open again after the next start.
    await this.settled();
    await this.#unsaved.writeNow(incidentKey(scope, ''));
    const onActive = () => this.#forget(by.tenant_id, agentId);
    const outcome = await agents.reactivate(scope, by, onActive, { ...change, seen });
    if (outcome !== 'already_active') {
      const { items } = await store.incidents({
        tenant_id: by.tenant_id,
        agent_id: agentId,
        limit: SNAPSHOT_COUNT,
      });
      for (const incident of items) live.publish(by.tenant_id, TOPICS.incidents, incident);
    }
    return outcome;
  }

  /**
   * The agent starts afresh: windows and the alert's state are cleared. Its very next call is measured against neither, and
   * what stops it again is news.
   */
  #forget(tenantId: string, agentId: string): void {
    const prefix = windowPrefix(tenantId, agentId);
    this.#parts.windows.forgetWhere((key) => key.startsWith(prefix));
    this.#parts.alerts.note({
      kind: 'reactivated',
      tenant_id: tenantId,
      agent_id: agentId,
      session_id: null,
      at_ms: this.#parts.nowMs(),
    });
  }

  async snapshot(tenantId: string): Promise<Incident[]> {
    return (await this.#parts.store.incidents({ tenant_id: tenantId, limit: SNAPSHOT_COUNT })).items;
  }
}
