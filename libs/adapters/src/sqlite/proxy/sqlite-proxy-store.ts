/**
 * The durable memory of the proxy, in the same file and behind the same queue and threads as SqliteStore, which opens
 * and closes them. This side pages and turns rows into what the port promises.
 */
import {
  type AlertDelivery,
  type CallFilter,
  type CallRow,
  type DeliveryFilter,
  type DocumentKind,
  type DocumentWrite,
  encodeCursor,
  INCIDENTS_READ_CHARS_MAX,
  type Incident,
  type IncidentFilter,
  LIMITS,
  type LlmCall,
  type Page,
  type PageQuery,
  type ProxyStore,
  type SemanticLoopEvent,
  type SpendLine,
  type SpendQuery,
  type StoredDocument,
} from '#contracts';
import { pageKeys, seqPage } from '../page.js';
import { countWithin } from '../rows-within.js';
import type { SqliteDatabase } from '../sqlite-database.js';
import { callBatch, rawDocument, toCall } from './call-batch.js';
import { NANO_USD_PER_USD, type RawBody, type RawIncident, type RawSpend } from './proxy-protocol.js';
import { hourOf } from './spend-sums.js';

export class SqliteProxyStore implements ProxyStore {
  readonly #database: SqliteDatabase;

  /** @param database what a SqliteStore stands on */
  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** One message to the thread, one group commit; in batches of 100 a call costs about three quarters of a step. */
  async appendCalls(rows: readonly CallRow[]): Promise<number[]> {
    const { pump } = this.#database;
    if (rows.length === 0) return [];
    const firstSeq = await pump.appendCalls(rows.length, () => callBatch(rows));
    return rows.map((_, index) => firstSeq + index);
  }

  async calls(filter: CallFilter): Promise<Page<LlmCall>> {
    const { limit, afterSeq } = pageKeys('calls', filter);
    const { rows, lookedDownTo } = await this.#database.read('calls', {
      tenantId: filter.tenant_id,
      agentId: filter.agent_id,
      sessionId: filter.session_id,
      sessionIds: filter.session_ids,
      model: filter.model,
      decision: filter.decision,
      decisions: filter.decisions,
      failed: filter.failed,
      fromMs: filter.from_ms,
      toMs: filter.to_ms,
      limit,
      beforeSeq: afterSeq,
    });
    const page = seqPage('calls', rows, filter.limit, toCall);
    return lookedDownTo === null ? page : { ...page, next_cursor: encodeCursor('calls', [lookedDownTo]) };
  }

  async call(tenantId: string, callId: string): Promise<LlmCall | null> {
    const { rows } = await this.#database.read('calls', { tenantId, callId, limit: 1, beforeSeq: null });
    const [row] = rows;
    return row === undefined ? null : toCall(row);
  }

  async spend(query: SpendQuery): Promise<SpendLine[]> {
    const rows = await this.#database.read('spend', {
      tenantId: query.tenant_id,
      group: query.group,
      fromHourMs: hourOf(query.from_ms),
      toMs: query.to_ms,
      agentId: query.agent_id,
      model: query.model,
      limit: LIMITS.spendLinesMax,
    });
    const lines = rows.map(toSpendLine);
    return query.group === 'day' || query.group === 'hour' ? lines.reverse() : lines;
  }

  async spendByAgent(fromMs: number) {
    const rows = await this.#database.read('spendByAgent', hourOf(fromMs));
    return rows.map(({ cost_nano_usd, ...key }) => ({ ...key, cost_usd: cost_nano_usd / NANO_USD_PER_USD }));
  }

  async appendIncident(tenantId: string, incident: Incident): Promise<number> {
    return this.#database.pump.call('appendIncident', [tenantId, incident]);
  }

  async incidents(query: IncidentFilter): Promise<Page<Incident>> {
    const page = pageKeys('incidents', query);
    const { tenant_id, agent_id, open } = query;
    const rows = await this.#database.read('incidents', tenant_id, agent_id ?? null, open ?? null, page);
    const count = Math.min(query.limit, countWithin(rows, INCIDENTS_READ_CHARS_MAX));
    return seqPage('incidents', rows, count, toIncident);
  }

  async incident(tenantId: string, incidentId: string): Promise<Incident | null> {
    const row = await this.#database.read('incident', tenantId, incidentId);
    return row && toIncident(row);
  }

  async openIncidents(): Promise<{ tenant_id: string; incident: Incident }[]> {
    const rows = await this.#database.read('openIncidents');
    return rows.map((row) => ({ tenant_id: row.tenant_id, incident: toIncident(row) }));
  }

  async appendSemanticLoop(tenantId: string, event: SemanticLoopEvent): Promise<number> {
    return this.#database.pump.call('appendSemanticLoop', [tenantId, event]);
  }

  async semanticLoops(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined },
  ): Promise<Page<SemanticLoopEvent>> {
    const page = pageKeys('semantic_loops', query);
    const rows = await this.#database.read('semanticLoops', query.tenant_id, query.session_id ?? null, page);
    return seqPage('semantic_loops', rows, query.limit, toSemanticLoop);
  }

  async saveDelivery(delivery: AlertDelivery): Promise<number> {
    return this.#database.pump.call('saveDelivery', [delivery]);
  }

  async deliveries(query: DeliveryFilter): Promise<Page<AlertDelivery>> {
    const { tenant_id, state, channel_id } = query;
    const page = pageKeys('deliveries', query, query.order);
    const rows = await this.#database.read('deliveries', tenant_id, state ?? null, channel_id ?? null, page);
    return seqPage('deliveries', rows, query.limit, toDelivery);
  }

  async delivery(tenantId: string, deliveryId: string): Promise<AlertDelivery | null> {
    const row = await this.#database.read('delivery', tenantId, deliveryId);
    return row && toDelivery(row);
  }

  async pendingDeliveries(): Promise<AlertDelivery[]> {
    return (await this.#database.read('pendingDeliveries')).map(toDelivery);
  }

  async commitDocuments(write: DocumentWrite): Promise<void> {
    const { saved = [], deleted = [], reactivated = null, audit = [] } = write;
    const name = audit.length > 0 ? 'commitAudited' : 'commitDocuments';
    await this.#database.pump.call(name, [{ saved: saved.map(rawDocument), deleted, reactivated, audit }]);
  }

  async documents(kind: DocumentKind): Promise<StoredDocument[]> {
    const rows = await this.#database.read('documents', kind);
    return rows.map((row) => ({ ...row, body: JSON.parse(row.body) }));
  }
}

const toIncident = ({ seq, body, reactivated_by, reactivated_at_ms }: RawIncident): Incident => ({
  ...JSON.parse(body),
  seq,
  reactivated_by,
  reactivated_at_ms,
});

const toSemanticLoop = ({ seq, body }: RawBody): SemanticLoopEvent => ({ ...JSON.parse(body), seq });

const toDelivery = ({ seq, body }: RawBody): AlertDelivery => ({ ...JSON.parse(body), seq });

const toSpendLine = ({ key, cost_nano_usd, ...sums }: RawSpend): SpendLine => ({
  ...sums,
  key: typeof key === 'number' ? new Date(key).toISOString() : key,
  cost_usd: cost_nano_usd / NANO_USD_PER_USD,
});
