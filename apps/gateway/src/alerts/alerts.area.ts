/** Puts alerting together: what watches, what carries, what operators change. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { NameLookup } from '#adapters/dns';
import { SmtpSender } from '#adapters/smtp';
import { WebhookSender } from '#adapters/webhook';
import {
  type AlertDelivery,
  type DecisionStore,
  type DeliveryFilter,
  type ExpiryAction,
  type LivePublisher,
  type Page,
  type PolicyBar,
  type ProxyStore,
  type SecretBox,
  TOPICS,
} from '#contracts';
import type { SpentUsd } from '#domain/alerts';
import { ChangeQueue, type Clock, type IdSource, type Timer } from '#kernel';
import { SettingsAudit } from '../auth/settings-audit.js';
import type { LiveHub } from '../realtime/live-hub.js';
import { AlertDocuments } from './alert-documents.js';
import { AlertMonitor } from './alert-monitor.js';
import { AlertTelemetry } from './alert-telemetry.js';
import { ChannelDesk } from './channel-desk.js';
import { CHANNEL_GONE, openChannel, SEALED_WITH_ANOTHER_KEY } from './channel-record.js';
import { ChannelSender } from './channel-sender.js';
import { DeadLetters } from './dead-letters.js';
import { DeliveryQueue } from './delivery-queue.js';
import { latestNotices, openIncidents } from './earlier-alerts.js';
import { RuleDesk } from './rule-desk.js';
import { type KnownSessions, SessionWatch } from './session-watch.js';

/** An incident this young at start may have been stored without a word to anybody: it is told, unless a notice says that it was. */
const UNTOLD_INCIDENT_MS_MAX = 10 * 60_000;
const SNAPSHOT_COUNT = 50;

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

/** What a start finds. */
export interface KnownAgents extends KnownSessions {
  /** Why the agent's policy does not let it call now; null: it does. */
  policyBar(tenantId: string, agentId: string): PolicyBar | null;
  /** What the agent has spent, in USD, as far as prices are known. */
  spentUsd(tenantId: string, agentId: string | null): SpentUsd;
}

export class AlertsArea {
  readonly monitor: AlertMonitor;
  readonly rules: RuleDesk;
  readonly channels: ChannelDesk;
  readonly deadLetters: DeadLetters;
  readonly sessions: SessionWatch;
  readonly #queue: DeliveryQueue;
  readonly #documents: AlertDocuments;
  readonly #telemetry: AlertTelemetry;
  readonly #parts: AlertsDependencies;
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
    this.sessions = new SessionWatch(this.monitor, parts);
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
    const { proxyStore, clock } = this.#parts;
    const incidents = await openIncidents(proxyStore, this.#telemetry);
    for (const event of incidents) this.monitor.prime(event);
    const untold = incidents.filter(({ at_ms }) => clock.nowMs() - at_ms <= UNTOLD_INCIDENT_MS_MAX);
    // Before anything new is queued, which would be found pending and carried twice.
    await this.#queue.resume();
    const before = this.monitor.firingBefore(
      await latestNotices(proxyStore, this.#documents.tenantsWithChannels(), this.#telemetry),
    );
    this.sessions.prime(known);
    watch();
    this.monitor.start(before);
    for (const event of untold) this.monitor.note(event);
  }

  /** The queue first: that somebody was told is kept of what it has written. */
  async stop(): Promise<void> {
    await this.#queue.drain();
    await this.monitor.stop();
  }

  deliveries(query: DeliveryFilter): Promise<Page<AlertDelivery>> {
    return this.#parts.proxyStore.deliveries(query);
  }
}
