/**
 * Durable memory of the proxy: calls, spend, incidents, alert deliveries, answers whose cost is to come, and the documents people
 * edit (policies, kill-switch settings, upstreams, prices, alert rules and channels). Same promises as DecisionStore: a write settles
 * after it is on disk, refusals are `store_busy` / `store_full`, pages are newest first unless said otherwise.
 */
import type { AlertDelivery } from '../alerting.js';
import type { Incident } from '../kill-switch.js';
import type { CallDecision, LlmCall } from '../llm-call.js';
import type { SpendGroup, SpendLine } from '../prices.js';
import type { SemanticLoopEvent } from '../semantic-loop.js';
import type { AuditDraft, Page, PageQuery } from './store.js';

export type DocumentKind =
  | 'agent_policy'
  | 'kill_switch'
  | 'upstream'
  | 'prices'
  | 'alert_rule'
  | 'alert_channel'
  | 'unsettled_answer'
  | 'continued_answer'
  | 'told_words';

/** A JSON document. What is secret in it is sealed by its owner before it comes here. */
export interface StoredDocument {
  tenant_id: string;
  kind: DocumentKind;
  id: string;
  body: unknown;
  updated_at_ms: number;
}

export type DocumentKey = Pick<StoredDocument, 'tenant_id' | 'kind' | 'id'>;

/** An agent that is let in again. */
export interface AgentReactivation {
  tenant_id: string;
  agent_id: string;
  by: string;
  at_ms: number;
}

/** Documents that are inserted or replaced, then those that go. */
export interface DocumentChange {
  saved?: readonly StoredDocument[];
  deleted?: readonly DocumentKey[];
}

/** One transaction: the documents, and what the audit says of it. */
export interface DocumentWrite extends DocumentChange {
  /** Its open incidents are closed. */
  reactivated?: AgentReactivation | undefined;
  audit?: readonly AuditDraft[];
}

export interface CallFilter extends PageQuery {
  tenant_id: string;
  agent_id?: string | undefined;
  session_id?: string | undefined;
  /** Of one of these. */
  session_ids?: readonly string[] | undefined;
  model?: string | undefined;
  decision?: CallDecision | undefined;
  /** One of these. */
  decisions?: readonly CallDecision[] | undefined;
  /** True: status 400 and above, or no answer. */
  failed?: boolean | undefined;
  /** Started at or after, before. */
  from_ms?: number | undefined;
  to_ms?: number | undefined;
}

export interface IncidentFilter extends PageQuery {
  tenant_id: string;
  agent_id?: string | undefined;
  /** True: nobody has reactivated its agent since. */
  open?: boolean | undefined;
}

export interface DeliveryFilter extends PageQuery {
  tenant_id: string;
  /** Absent: newest first. */
  order?: 'asc' | 'desc';
  state?: AlertDelivery['state'] | undefined;
  channel_id?: string | undefined;
}

export interface SpendQuery {
  tenant_id: string;
  group: SpendGroup;
  /** Epoch ms; whole hours are summed: the one that holds `from_ms` is the first. */
  from_ms: number;
  to_ms: number;
  agent_id?: string | undefined;
  model?: string | undefined;
}

/** A call with its tenant, as it is written. */
export interface CallRow {
  tenant_id: string;
  call: LlmCall;
  /** In whose hour its cost is summed, epoch ms: when it was taken from budgets, of a fetched answer when it was asked for. Absent: when the call began. */
  spent_at_ms?: number | undefined;
  /** Written with it or not at all: what was counted for it, and is to be settled. Few calls have any. */
  documents?: DocumentChange | undefined;
}

/** What an agent spent in one UTC hour. */
export interface AgentSpend extends Pick<SpendLine, 'cost_usd' | 'unpriced_call_count'> {
  tenant_id: string;
  agent_id: string;
  hour_ms: number;
}

/**
 * Characters of incidents that are read at once, with all their evidence: the one that passes it is the last. A page of the longest
 * ones, 600,000 characters each, would stop the gateway for seconds. Fifty ordinary ones fit.
 */
export const INCIDENTS_READ_CHARS_MAX = 4 * 1024 * 1024;

export interface ProxyStore {
  /**
   * Appends calls, adds them to the hourly spend sums (by tenant, agent, model, hour) and writes their documents in the same transaction.
   * Meant for batches of many. Returns the seqs, in order.
   */
  appendCalls(rows: readonly CallRow[]): Promise<number[]>;
  calls(filter: CallFilter): Promise<Page<LlmCall>>;
  call(tenantId: string, callId: string): Promise<LlmCall | null>;
  /** Most expensive first for agents and models, oldest first for days and hours; at most 1,000 lines. */
  spend(query: SpendQuery): Promise<SpendLine[]>;
  /** Sums by agent since `fromMs` (rounded down to the hour), over all tenants: rebuilds budgets at start. */
  spendByAgent(fromMs: number): Promise<AgentSpend[]>;

  appendIncident(tenantId: string, incident: Incident): Promise<number>;
  /** A page is shorter for INCIDENTS_READ_CHARS_MAX. */
  incidents(query: IncidentFilter): Promise<Page<Incident>>;
  incident(tenantId: string, incidentId: string): Promise<Incident | null>;
  /** Incidents nobody has reactivated, all tenants. */
  openIncidents(): Promise<{ tenant_id: string; incident: Incident }[]>;

  /** Returns its seq. */
  appendSemanticLoop(tenantId: string, event: SemanticLoopEvent): Promise<number>;
  semanticLoops(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined },
  ): Promise<Page<SemanticLoopEvent>>;

  /** Inserts or replaces (by delivery_id); returns its seq. */
  saveDelivery(delivery: AlertDelivery): Promise<number>;
  deliveries(query: DeliveryFilter): Promise<Page<AlertDelivery>>;
  delivery(tenantId: string, deliveryId: string): Promise<AlertDelivery | null>;
  /** Every delivery still pending, oldest first, all tenants: resumed after a crash. */
  pendingDeliveries(): Promise<AlertDelivery[]>;

  /** All of it or, where it rejects, nothing. */
  commitDocuments(write: DocumentWrite): Promise<void>;
  documents(kind: DocumentKind): Promise<StoredDocument[]>;
}
