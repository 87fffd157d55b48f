/** For the specs of this folder only: alerting on a store in memory, a clock moved by hand, and scripted receivers. */
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type {
  AlertChannelBody,
  AlertDelivery,
  AuditDraft,
  ControlCommit,
  ControlView,
  ControlWrite,
  DocumentKey,
  DocumentKind,
  DocumentWrite,
  Incident,
  LivePublisher,
  ProxyStore,
  SecretBox,
  SessionKey,
  SessionView,
  StoredDocument,
} from '#contracts';
import { sessionKey } from '#contracts';
import type { AlertEvent, SendOutcome } from '#domain/alerts';
import { FakeTime, turn } from '#testing';
import type { LiveHub } from '../realtime/live-hub.js';
import { AlertsArea } from './alerts.area.js';

/** With the promises of the real one; outlives an area, as a disk outlives a process. */
export class MemoryAlertStore {
  readonly docs = new Map<string, StoredDocument>();
  readonly rows = new Map<string, AlertDelivery>();
  readonly incidents: { tenant_id: string; incident: Incident }[] = [];
  readonly audited: AuditDraft[] = [];
  /** Nothing is taken while it is true. */
  isFull = false;
  /** States in which each delivery was written, in order. */
  readonly saved: string[] = [];

  async commitDocuments({ saved = [], deleted = [], audit = [] }: DocumentWrite): Promise<void> {
    if (this.isFull) throw new Error('store_full');
    const name = ({ tenant_id, kind, id }: DocumentKey) => `${tenant_id}/${kind}/${id}`;
    for (const document of saved) this.docs.set(name(document), structuredClone(document));
    for (const key of deleted) this.docs.delete(name(key));
    this.audited.push(...audit);
  }
  async documents(kind: DocumentKind): Promise<StoredDocument[]> {
    return structuredClone([...this.docs.values()].filter((document) => document.kind === kind));
  }
  async saveDelivery(delivery: AlertDelivery): Promise<number> {
    if (this.isFull) throw new Error('store_full');
    const seq = this.rows.get(delivery.delivery_id)?.seq ?? this.rows.size + 1;
    this.rows.set(delivery.delivery_id, { ...structuredClone(delivery), seq });
    this.saved.push(delivery.state);
    return seq;
  }
  async delivery(tenantId: string, deliveryId: string): Promise<AlertDelivery | null> {
    const row = this.rows.get(deliveryId);
    return row?.notice.tenant_id === tenantId ? structuredClone(row) : null;
  }
  async deliveries(query: Parameters<ProxyStore['deliveries']>[0]) {
    const { tenant_id, channel_id, limit, cursor, state, order } = query;
    const all = [...this.rows.values()]
      .filter((row) => row.notice.tenant_id === tenant_id && row.state === (state ?? row.state))
      .filter((row) => row.channel_id === (channel_id ?? row.channel_id));
    if (order !== 'asc') all.reverse();
    const from = Number(cursor ?? 0);
    const next_cursor = from + limit < all.length ? String(from + limit) : null;
    return { items: structuredClone(all.slice(from, from + limit)), next_cursor };
  }
  async pendingDeliveries(): Promise<AlertDelivery[]> {
    return structuredClone([...this.rows.values()].filter(({ state }) => state === 'pending'));
  }
  async openIncidents() {
    return this.incidents;
  }
  async commitControl(write: ControlWrite): Promise<ControlCommit> {
    if (this.isFull) throw new Error('store_full');
    this.audited.push(...(write.audit ?? []));
    return { audit: [], released: [], has_more_held: false, rewritten: null };
  }
}

/** Reversible and recognisable: not for anything but specs. */
export const fakeBox = (key = 'k'): SecretBox => ({
  seal: (text) => `${key}:${Buffer.from(text).toString('hex')}`,
  open: (sealed) => {
    const [by, hex = ''] = sealed.split(':');
    if (by !== key) throw new Error('sealed with another key');
    return Buffer.from(hex, 'hex').toString();
  },
});

export const WEBHOOK = {
  kind: 'webhook',
  name: 'On call',
  url: 'https://hooks.example.org/T0/canary-path?token=canary-query',
  secret: 'canary-signing-secret',
  allow_private: false,
} satisfies AlertChannelBody;

export const failed = (reason = 'it answers 500', retryable = true): SendOutcome => ({
  ok: false,
  retryable,
  reason,
  retryAfterMs: null,
});

export interface Sent {
  url: string;
  body: string;
  headers: Readonly<Record<string, string>>;
}

let idCount = 0;

export async function startAlerts(
  options: {
    store?: MemoryAlertStore;
    time?: FakeTime;
    box?: SecretBox;
    sessions?: SessionView[];
    paused?: [SessionKey, ControlView][];
    /** Agents that an operator stopped. */
    inactive?: ReadonlySet<string>;
    /** What an agent has spent, in USD. */
    spentUsd?: (agentId: string | null) => number;
    /** What receivers say from the start on. */
    answer?: (sent?: Sent) => Promise<SendOutcome>;
  } = {},
) {
  const { store = new MemoryAlertStore(), time = new FakeTime(), box = fakeBox(), sessions = [] } = options;
  const sent: Sent[] = [];
  const mails: Record<string, unknown>[] = [];
  const published: { tenantId: string; payload: AlertDelivery }[] = [];
  const script = { answer: options.answer ?? (async (_sent?: Sent): Promise<SendOutcome> => ({ ok: true })) };
  const metrics = new Registry();
  const lines: Record<string, unknown>[] = [];
  const area = new AlertsArea({
    clock: time,
    ids: { next: (bytes = 16) => String(++idCount).padStart(bytes, '0') },
    timer: time,
    random: () => 0.5,
    logger: pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    metrics,
    store,
    proxyStore: store as never,
    box,
    live: {
      publish: (tenantId, _topic, payload) =>
        published.push({ tenantId, payload: structuredClone(payload) as never }),
    } as LivePublisher,
    publicUrl: 'https://ops.example.org',
    expiryAction: () => 'resume',
    webhook: {
      send: ({ url, body, headers }) => {
        sent.push({ url, body, headers });
        return script.answer({ url, body, headers });
      },
    },
    smtp: {
      send: (delivery) => {
        mails.push({ ...delivery });
        return script.answer();
      },
    },
  });
  const { paused = [], inactive = new Set(), spentUsd = () => 0 } = options;
  const views = new Map(sessions.map((view) => [sessionKey('default', view.session_id), view]));
  await area.load();
  await area.start(
    { provideSnapshot: () => {} } as unknown as LiveHub,
    {
      sessions: { entries: () => views.entries() },
      paused: () => [...paused, ...[...views].map(([key, { control }]) => [key, control] as const)],
      policyBar: (_tenantId, agentId) => (inactive.has(agentId) ? 'inactive' : null),
      spentUsd: (_tenantId, agentId) => {
        const usd = spentUsd(agentId);
        return { hour: usd, day: usd, month: usd, hourAtMost: usd };
      },
    },
    () => {},
  );
  const states = () => [...store.rows.values()].map(({ state }) => state);
  return { area, store, time, sent, mails, published, script, metrics, lines, states, settle };
}

/** Everything that can go on without time has gone on. */
export async function settle(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await turn();
}

type IncidentEvent = AlertEvent & { kind: 'incident' };

export const incidentOf = (time: FakeTime, agent_id = 'crawler'): IncidentEvent => ({
  kind: 'incident',
  tenant_id: 'default',
  agent_id,
  session_id: 's1',
  at_ms: time.nowMs(),
  incident_id: `inc-${agent_id}`,
  score: 13,
  threshold: 10,
});

/** It is in the store: the next start knows that the agent is still stopped. */
export function keepIncident(store: MemoryAlertStore, { tenant_id, kind: _, ...event }: IncidentEvent): void {
  const incident = { ...event, breakdown: { score: event.score } } as unknown as Incident;
  store.incidents.push({ tenant_id, incident });
}
