/** Incidents, semantic loops, alert deliveries and documents: the proxy's rare writes, by name. Runs inside the writer's transaction. */
import type { Database } from 'better-sqlite3';
import type { AgentReactivation, AlertDelivery, Incident, SemanticLoopEvent } from '#contracts';
import type { AuditLog } from '../audit-log.js';
import { PreparedStatements } from '../prepared-statements.js';
import { DocumentTable } from './document-table.js';
import type { ProxyWriteCalls, RawDocumentWrite } from './proxy-protocol.js';

export class ProxyWriteTable implements ProxyWriteCalls {
  readonly #sql: PreparedStatements;
  readonly #audit: AuditLog;
  readonly #documents: DocumentTable;

  constructor(database: Database, audit: AuditLog) {
    this.#sql = new PreparedStatements(database);
    this.#audit = audit;
    this.#documents = new DocumentTable(database);
  }

  appendIncident(tenantId: string, incident: Incident): number {
    const { incident_id, agent_id, reactivated_by, reactivated_at_ms } = incident;
    this.#sql
      .prepare(
        `INSERT INTO incidents (tenant_id, incident_id, agent_id, reactivated_by, reactivated_at_ms, body)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, incident_id) DO NOTHING`,
      )
      .run(tenantId, incident_id, agent_id, reactivated_by, reactivated_at_ms, JSON.stringify(incident));
    return this.#seq(
      'SELECT seq FROM incidents WHERE tenant_id = ? AND incident_id = ?',
      tenantId,
      incident_id,
    );
  }

  appendSemanticLoop(tenantId: string, event: SemanticLoopEvent): number {
    return this.#seq(
      'INSERT INTO semantic_loops (tenant_id, session_id, at_ms, body) VALUES (?, ?, ?, ?) RETURNING seq',
      tenantId,
      event.session_id,
      event.at_ms,
      JSON.stringify(event),
    );
  }

  saveDelivery(delivery: AlertDelivery): number {
    const { notice, delivery_id, channel_id, state, created_at_ms } = delivery;
    return this.#seq(
      `INSERT INTO alert_deliveries (tenant_id, delivery_id, channel_id, state, created_at_ms, body)
       VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant_id, delivery_id) DO UPDATE SET channel_id = excluded.channel_id, state = excluded.state,
         created_at_ms = excluded.created_at_ms, body = excluded.body
       RETURNING seq`,
      notice.tenant_id,
      delivery_id,
      channel_id,
      state,
      created_at_ms,
      JSON.stringify(delivery),
    );
  }

  commitDocuments({ reactivated, audit, ...change }: RawDocumentWrite): void {
    this.#documents.change(change);
    if (reactivated !== null) this.#closeIncidents(reactivated);
    for (const draft of audit) this.#audit.append(draft);
  }

  commitAudited(write: RawDocumentWrite): void {
    this.commitDocuments(write);
  }

  #closeIncidents(reactivated: AgentReactivation): void {
    this.#sql
      .prepare(
        `UPDATE incidents SET reactivated_by = @by, reactivated_at_ms = @at_ms
         WHERE tenant_id = @tenant_id AND agent_id = @agent_id AND reactivated_at_ms IS NULL`,
      )
      .run(reactivated);
  }

  #seq(sql: string, ...values: (string | number)[]): number {
    return (this.#sql.get<{ seq: number }>(sql, values) as { seq: number }).seq;
  }
}
