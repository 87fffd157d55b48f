/** What is read of the proxy's tables, by name, on the reader's connection. */
import type { Database } from 'better-sqlite3';
import type { DocumentKind } from '#contracts';
import { INCIDENTS_READ_CHARS_MAX } from '#contracts/store';
import { PreparedStatements } from '../prepared-statements.js';
import { takeWithin } from '../rows-within.js';
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
import { SpendReader } from './spend-reader.js';

const INCIDENTS = 'SELECT seq, tenant_id, reactivated_by, reactivated_at_ms, body FROM incidents';
/** The few of all tenants: whoever looks for an old one would else go through all that came after it. */
const IS_OPEN =
  'seq IN (SELECT seq FROM incidents INDEXED BY incidents_open WHERE reactivated_at_ms IS NULL)';
const IS_OVER = 'reactivated_at_ms IS NOT NULL';
const SEMANTIC_LOOPS = 'SELECT seq, body FROM semantic_loops';
const DELIVERIES = 'SELECT seq, body FROM alert_deliveries';

export class ProxyReader implements ProxyReadCalls {
  readonly #sql: PreparedStatements;
  readonly #calls: CallReader;
  readonly #spend: SpendReader;

  constructor(database: Database) {
    this.#sql = new PreparedStatements(database);
    this.#calls = new CallReader(database);
    this.#spend = new SpendReader(database);
  }

  calls(keys: CallKeys): CallsFound {
    return this.#calls.calls(keys);
  }

  spend(keys: SpendKeys): RawSpend[] {
    return this.#spend.spend(keys);
  }

  spendByAgent(fromHourMs: number): RawAgentSpend[] {
    return this.#spend.spendByAgent(fromHourMs);
  }

  incidents(tenantId: string, agentId: string | null, isOpen: boolean | null, page: PageKeys): RawIncident[] {
    const clause = isOpen === null ? null : isOpen ? IS_OPEN : IS_OVER;
    const equal = { tenant_id: tenantId, agent_id: agentId };
    const rows = this.#sql.eachOfPage<RawIncident>(INCIDENTS, equal, page, clause);
    return takeWithin(rows, page.limit, INCIDENTS_READ_CHARS_MAX);
  }

  incident(tenantId: string, incidentId: string): RawIncident | null {
    return this.#sql.get(`${INCIDENTS} WHERE tenant_id = ? AND incident_id = ?`, [tenantId, incidentId]);
  }

  openIncidents(): RawIncident[] {
    // Those that are over are never deleted: left to itself, SQLite reads them all rather than sort the few.
    return this.#sql.all(
      `${INCIDENTS} INDEXED BY incidents_open WHERE reactivated_at_ms IS NULL ORDER BY seq`,
    );
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
