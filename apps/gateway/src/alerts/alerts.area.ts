/** Puts alerting together: what watches, what carries, what operators change. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { NameLookup } from '#adapters/dns';
import { SmtpSender } from '#adapters/smtp';
import { WebhookSender } from '#adapters/webhook';
import {
  type AlertDelivery,
  type ControlView,
  type DecisionStore,
  type DeliveryFilter,
  type ExpiryAction,
  type LivePublisher,
  type Page,
  type PolicyBar,
  type ProxyStore,
  type SecretBox,
  type SessionKey,
  type StoredStep,
  splitSessionKey,
  TOPICS,
  tenantIdOf,
} from '#contracts';
import type { SpentUsd } from '#domain/alerts';
import { ChangeQueue, type Clock, type IdSource, type Timer } from '#kernel';
import { SettingsAudit } from '../auth/settings-audit.js';
import type { SessionRegistry } from '../decision-log/session-registry.js';
import type { LiveHub } from '../realtime/live-hub.js';
import { AlertDocuments } from './alert-documents.js';
import { AlertMonitor } from './alert-monitor.js';
import { AlertTelemetry } from './alert-telemetry.js';
import { ChannelDesk } from './channel-desk.js';
import { CHANNEL_GONE, openChannel, SEALED_WITH_ANOTHER_KEY } from './channel-record.js';
import { ChannelSender } from './channel-sender.js';
import { DeadLetters } from './dead-letters.js';
import { DeliveryQueue } from './delivery-queue.js';
import { PersonWaits } from './person-waits.js';
import { RuleDesk } from './rule-desk.js';

/** An incident this young at start may have been stored without a word to anybody: it is told, unless a notice says that it was. */
const UNTOLD_INCIDENT_MS_MAX = 10 * 60_000;
const SNAPSHOT_COUNT = 50;
/** Of each tenant, looked at on start: far longer than the second by which it is kept late that they were sent. */
const LATEST_NOTICES_MS = 10_000;
const LATEST_NOTICES_PAGE = 500;
const LATEST_NOTICES_MAX = 10_000;

export interface AlertsDependencies {
  clock: Clock;
  ids: IdSource;
  timer: Timer;
  random: () => number;
  logger: Logger;
  metrics: Registry;
  store: Pick<DecisionStore, 'commitControl'>;
  proxyStore: Pick<
    ProxyStore,
    | 'documents'
    | 'commitDocuments'
    | 'saveDelivery'
    | 'delivery'
    | 'deliveries'
    | 'pendingDeliveries'
    | 'openIncidents'
  >;
  box: SecretBox;
  live: LivePublisher;
  publicUrl: string | null;
  /** What becomes of a session when its pause expires. */
  expiryAction(): ExpiryAction;
  webhook?: Pick<WebhookSender, 'send'>;
  smtp?: Pick<SmtpSender, 'send'>;
}

type Paused = readonly [SessionKey, ControlView];

/** What a start finds. */
export interface KnownAgents {
  /** Those in memory. */
  sessions: Pick<SessionRegistry, 'entries'>;
  /** All that hold messages. */
  paused(): Iterable<Paused>;
  /** Why the agent's policy does not let it call now; null: it does. */
  policyBar(tenantId: string, agentId: string): PolicyBar | null;
  /** What the agent has spent, in USD, as far as prices are known. */
  spentUsd(tenantId: string, agentId: string): SpentUsd;
}

export class AlertsArea {
  readonly monitor: AlertMonitor;
  readonly rules: RuleDesk;
  readonly channels: ChannelDesk;
  readonly deadLetters: DeadLetters;
  readonly #queue: DeliveryQueue;
  readonly #documents: AlertDocuments;
  readonly #telemetry: AlertTelemetry;
  readonly #parts: AlertsDependencies;
  readonly #personWaits = new PersonWaits();
  /** Until `start`. */
  #agents: Pick<KnownAgents, 'policyBar' | 'spentUsd'> = {
    policyBar: () => null,
    spentUsd: () => ({ hour: 0, day: 0, month: 0, hourAtMost: 0 }),
  };

  constructor(parts: AlertsDependencies) {
    this.#parts = parts;
    const { clock, ids, timer, live, box, proxyStore, publicUrl } = parts;
    const telemetry = new AlertTelemetry(clock, parts.logger, parts.metrics, () => this.#queue.pendingCount);
    this.#telemetry = telemetry;
    const documents = new AlertDocuments({
      store: proxyStore,
      clock,
      onUnusable: (kind, id) => telemetry.documentUnusable(kind, id),
    });
    this.#documents = documents;
    const names = new NameLookup();
    const resolve = names.addressesOf.bind(names);
    const { webhook = new WebhookSender({ resolve }), smtp = new SmtpSender({ resolve }) } = parts;
    const sender = new ChannelSender(webhook, smtp, clock);
    this.#queue = new DeliveryQueue({
      store: proxyStore,
      live,
      clock,
      ids,
      timer,
      random: parts.random,
      telemetry,
      openChannel: (tenantId, channelId) => {
        const record = documents.channel(tenantId, channelId);
        if (record === undefined) return CHANNEL_GONE;
        return openChannel(box, record) ?? SEALED_WITH_ANOTHER_KEY;
      },
      send: (channel, notice, deliveryId) => sender.send(channel, notice, deliveryId),
    });
    this.monitor = new AlertMonitor({
      documents,
      clock,
      ids,
      timer,
      publicUrl,
      policyBar: (tenantId, agentId) => this.#agents.policyBar(tenantId, agentId),
      spentUsd: (tenantId, agentId) => this.#agents.spentUsd(tenantId, agentId),
      deliver: this.#queue.enqueue.bind(this.#queue),
      lastSeq: () => this.#queue.lastSeq,
      unwrittenRules: () => this.#queue.unwrittenRules(),
      telemetry,
    });
    const audit = new SettingsAudit(parts.store, clock);
    this.deadLetters = new DeadLetters({ store: proxyStore, documents, queue: this.#queue, audit });
    const shared = { documents, audit, changes: new ChangeQueue<string>(), clock, ids };
    this.rules = new RuleDesk({ ...shared, watch: this.monitor });
    this.channels = new ChannelDesk({
      ...shared,
      box,
      queue: this.#queue,
      sender,
      publicUrl,
      rulesChanged: (tenantId) => this.monitor.rulesChanged(tenantId),
    });
  }

  /** Before the first event. Rejects as the store does. */
  load(): Promise<void> {
    return this.#documents.load();
  }

  /**
   * Goes on where the last process ended: what was firing, what is pending, which agents were stopped, in a loop or waiting
   * for a person, and when each was seen (a proxied call is a step of its session too).
   * @param watch called in the turn in which the sessions were looked at last: begins to tell of steps and control
   */
  async start(hub: LiveHub, known: KnownAgents, watch: () => void): Promise<void> {
    this.#agents = known;
    hub.provideSnapshot(TOPICS.deliveries, async (tenantId) => {
      return (await this.deliveries({ tenant_id: tenantId, limit: SNAPSHOT_COUNT })).items;
    });
    const untold = await this.#primeIncidents();
    // Before anything new is queued, which would be found pending and carried twice.
    await this.#queue.resume();
    const before = this.monitor.firingBefore(await this.#latestNotices());
    for (const [key, view] of known.sessions.entries()) {
      const tenant_id = tenantIdOf(key);
      const { agent_id, session_id, last_seen_ms: at_ms, severity, ended } = view;
      this.monitor.prime({ kind: 'step', tenant_id, agent_id, session_id, at_ms, severity, ended });
    }
    this.#primePauses(known);
    this.#primeTerminations(known);
    watch();
    this.monitor.start(before);
    for (const event of untold) this.monitor.note(event);
  }

  #primeTerminations({ sessions }: KnownAgents): void {
    const terminated = new Map<string, Set<string>>();
    for (const [key, { control }] of sessions.entries()) {
      if (control.state !== 'terminated') continue;
      const { tenantId, sessionId } = splitSessionKey(key);
      terminated.set(tenantId, (terminated.get(tenantId) ?? new Set()).add(sessionId));
    }
    for (const [tenantId, sessionIds] of terminated) this.monitor.noteTerminated(tenantId, sessionIds);
  }

  #primePauses({ paused }: KnownAgents): void {
    for (const [key, control] of [...paused()].sort(bySince)) {
      this.#notePause(key, control);
      for (const agentId of this.#personWaits.note(key, control).began)
        this.monitor.prime(
          this.#personFact(key, agentId, control, true, control.since_ms ?? this.#parts.clock.nowMs()),
        );
    }
  }

  /** The queue first: that somebody was told is kept of what it has written. */
  async stop(): Promise<void> {
    await this.#queue.drain();
    await this.monitor.stop();
  }

  /** A stored step of any agent. */
  noteStep(step: StoredStep): void {
    const { tenant_id, agent_id, session_id, received_at_ms, entropy_severity, log } = step;
    this.monitor.note({
      kind: 'step',
      tenant_id,
      agent_id,
      session_id,
      at_ms: received_at_ms,
      severity: entropy_severity,
      ended: log.control?.is_terminal === true,
    });
  }

  /**
   * A session's control may have changed: it is paused, goes on or was terminated, one of its agents asks for a person, or somebody
   * came. The session need not be in memory.
   */
  noteControl(key: SessionKey, control: ControlView): void {
    this.#notePause(key, control);
    const { tenantId, sessionId } = splitSessionKey(key);
    if (control.state === 'terminated') this.monitor.noteTerminated(tenantId, new Set([sessionId]));
    const { began, ended } = this.#personWaits.note(key, control);
    const nowMs = this.#parts.clock.nowMs();
    for (const agentId of began) this.monitor.note(this.#personFact(key, agentId, control, true, nowMs));
    for (const agentId of ended) this.monitor.note(this.#personFact(key, agentId, control, false, nowMs));
  }

  deliveries(query: DeliveryFilter): Promise<Page<AlertDelivery>> {
    return this.#parts.proxyStore.deliveries(query);
  }

  #notePause(key: SessionKey, { state }: ControlView): void {
    const { tenantId, sessionId } = splitSessionKey(key);
    this.monitor.notePause(tenantId, sessionId, state === 'paused' || state === 'pause_requested');
  }

  #personFact(
    key: SessionKey,
    agent_id: string,
    { expires_at_ms }: ControlView,
    awaited: boolean,
    at_ms: number,
  ) {
    const { tenantId: tenant_id, sessionId: session_id } = splitSessionKey(key);
    const on_expiry = this.#parts.expiryAction();
    return {
      kind: 'person',
      tenant_id,
      agent_id,
      session_id,
      at_ms,
      awaited,
      expires_at_ms,
      on_expiry,
    } as const;
  }

  async #latestNotices(): Promise<AlertDelivery[]> {
    const latest: AlertDelivery[] = [];
    try {
      for (const tenant_id of this.#documents.tenantsWithChannels())
        latest.push(...(await this.#latestNoticesOf(tenant_id)));
    } catch (error) {
      this.#telemetry.storeFailed('delivery', error);
    }
    return latest;
  }

  async #latestNoticesOf(tenant_id: string): Promise<AlertDelivery[]> {
    const latest: AlertDelivery[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.deliveries({ tenant_id, limit: LATEST_NOTICES_PAGE, cursor });
      latest.push(...page.items);
      cursor = page.next_cursor ?? undefined;
      const spanMs = (latest[0]?.created_at_ms ?? 0) - (latest.at(-1)?.created_at_ms ?? 0);
      if (spanMs > LATEST_NOTICES_MS) break;
    } while (cursor !== undefined && latest.length < LATEST_NOTICES_MAX);
    return latest;
  }

  async #primeIncidents() {
    const { proxyStore, clock } = this.#parts;
    try {
      const events = (await proxyStore.openIncidents()).map(({ tenant_id, incident }) => ({
        kind: 'incident' as const,
        tenant_id,
        agent_id: incident.agent_id,
        session_id: incident.session_id,
        at_ms: incident.at_ms,
        incident_id: incident.incident_id,
        score: incident.breakdown.score,
        threshold: incident.threshold,
      }));
      for (const event of events) this.monitor.prime(event);
      return events.filter((event) => clock.nowMs() - event.at_ms <= UNTOLD_INCIDENT_MS_MAX);
    } catch (error) {
      this.#telemetry.storeFailed('incidents', error);
      return [];
    }
  }
}

const bySince = ([, one]: Paused, [, other]: Paused): number => (one.since_ms ?? 0) - (other.since_ms ?? 0);
