/** What is read of the proxy's tables, by name, on the reader's connection. */
import type { Database } from 'better-sqlite3';
import type { DocumentKind, SpendGroup } from '#contracts';
import { PreparedStatements } from '../prepared-statements.js';
import type { PageKeys } from '../wire.js';
import { CallReader } from './call-reader.js';
import type {
  CallKeys,
  CallsFound,
  ProxyReadCalls,
  RawAgentSpend,
  RawBody,
  RawDocument,
  RawIncident,
  RawSpend,
  SpendKeys,
} from './proxy-protocol.js';

const DAY_MS = 86_400_000;

const INCIDENTS = 'SELECT seq, tenant_id, reactivated_by, reactivated_at_ms, body FROM incidents';
const SEMANTIC_LOOPS = 'SELECT seq, body FROM semantic_loops';
const DELIVERIES = 'SELECT seq, body FROM alert_deliveries';

/** Of more lines than are shown, the most expensive or the latest ones are. */
const GROUPS: Record<SpendGroup, { key: string; order: string }> = {
  agent: { key: 'agent_id', order: 'cost_nano_usd DESC, call_count DESC, key' },
  model: { key: 'model', order: 'cost_nano_usd DESC, call_count DESC, key' },
  day: { key: `hour_ms - hour_ms % ${DAY_MS}`, order: 'key DESC' },
  hour: { key: 'hour_ms', order: 'key DESC' },
};

export class ProxyReader implements ProxyReadCalls {
  readonly #sql: PreparedStatements;
  readonly #calls: CallReader;

  constructor(database: Database) {
    this.#sql = new PreparedStatements(database);
    this.#calls = new CallReader(database);
  }

  calls(keys: CallKeys): CallsFound {
    return this.#calls.calls(keys);
  }

  spend({ tenantId, group, fromHourMs, toMs, agentId, model, limit }: SpendKeys): RawSpend[] {
    const clauses = ['tenant_id = ?', 'hour_ms >= ?', 'hour_ms < ?'];
    const values: unknown[] = [tenantId, fromHourMs, toMs];
    if (agentId !== undefined) {
      clauses.push('agent_id = ?');
      values.push(agentId);
    }
    if (model !== undefined) {
      clauses.push('model = ?');
      values.push(model);
    }
    const { key, order } = GROUPS[group];
    // total() and not sum(): it never overflows.
    return this.#sql.all(
      `SELECT ${key} AS key, total(call_count) AS call_count, total(unpriced_call_count) AS unpriced_call_count,
         total(input_tokens) AS input_tokens, total(cached_input_tokens) AS cached_input_tokens,
         total(output_tokens) AS output_tokens, total(reasoning_tokens) AS reasoning_tokens,
         total(cost_nano_usd) AS cost_nano_usd
       FROM spend_hours WHERE ${clauses.join(' AND ')} GROUP BY 1 ORDER BY ${order} LIMIT ?`,
      [...values, limit],
    );
  }

  /** Leaps from tenant to tenant, for the key begins with them and hours come second. */
  spendByAgent(fromHourMs: number): RawAgentSpend[] {
    return this.#sql.all(
      `WITH RECURSIVE tenants (id) AS (
         SELECT min(tenant_id) FROM spend_hours
         UNION ALL
         SELECT (SELECT min(tenant_id) FROM spend_hours WHERE tenant_id > id) FROM tenants WHERE id IS NOT NULL
       )
       SELECT tenant_id, agent_id, hour_ms, total(cost_nano_usd) AS cost_nano_usd
       FROM tenants CROSS JOIN spend_hours ON tenant_id = id AND hour_ms >= ?
       GROUP BY tenant_id, hour_ms, agent_id`,
      [fromHourMs],
    );
  }

  incidents(tenantId: string, agentId: string | null, page: PageKeys): RawIncident[] {
    return this.#sql.page(INCIDENTS, { tenant_id: tenantId, agent_id: agentId }, page);
  }

  incident(tenantId: string, incidentId: string): RawIncident | null {
    return this.#sql.get(`${INCIDENTS} WHERE tenant_id = ? AND incident_id = ?`, [tenantId, incidentId]);
  }

  openIncidents(): RawIncident[] {
    return this.#sql.all(`${INCIDENTS} WHERE reactivated_at_ms IS NULL ORDER BY seq`);
  }

  semanticLoops(tenantId: string, sessionId: string | null, page: PageKeys): RawBody[] {
    return this.#sql.page(SEMANTIC_LOOPS, { tenant_id: tenantId, session_id: sessionId }, page);
  }

  deliveries(tenantId: string, state: string | null, channelId: string | null, page: PageKeys): RawBody[] {
    return this.#sql.page(DELIVERIES, { tenant_id: tenantId, state, channel_id: channelId }, page);
  }

  delivery(tenantId: string, deliveryId: string): RawBody | null {
    return this.#sql.get(`${DELIVERIES} WHERE tenant_id = ? AND delivery_id = ?`, [tenantId, deliveryId]);
  }

  pendingDeliveries(): RawBody[] {
    return this.#sql.all(`${DELIVERIES} WHERE state = 'pending' ORDER BY seq`);
  }

  documents(kind: DocumentKind): RawDocument[] {
    return this.#sql.all(
      'SELECT tenant_id, kind, id, body, updated_at_ms FROM documents WHERE kind = ? ORDER BY tenant_id, id',
      [kind],
    );
  }
}
