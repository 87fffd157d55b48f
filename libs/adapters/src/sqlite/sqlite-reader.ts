/**
 * The reading half of the store, synchronous, on a connection of its own: write-ahead mode lets it run beside the
 * writer and see everything committed before it asks.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { AgentKeyRow, AlertGroup, AuditEntry, ControlRow, LoginRow, OperatorRow } from '#contracts';
import type { AuditHead } from '#domain/hitl';
import { AuditReader, type AuditRow, toAuditEntry } from './audit-log.js';
import { openReaderConnection } from './database-file.js';
import type {
  PageKeys,
  RawEvent,
  RawSession,
  RawStep,
  ReadCallName,
  ReadCalls,
  SessionKeys,
} from './protocol.js';
import { SESSION_CHECKPOINT } from './schema.js';
import { RAW_STEP_COLUMNS } from './step-table.js';

const STEPS = `SELECT ${RAW_STEP_COLUMNS} FROM steps`;
const SESSIONS = 'SELECT tenant_id, session_id, last_seen_ms, view FROM sessions';

export class SqliteReader implements ReadCalls {
  readonly #database: Database;
  readonly #auditReader: AuditReader;
  /** By SQL text; bounded, because the texts are made of the few clauses below. */
  readonly #statements = new Map<string, Statement>();

  /** @throws Error with a reason, if there is no readable database at `path` */
  constructor(path: string) {
    this.#database = openReaderConnection(path);
    this.#auditReader = new AuditReader(this.#database);
  }

  run(name: ReadCallName, args: unknown[]): unknown {
    return (this[name] as (...values: unknown[]) => unknown).apply(this, args);
  }

  close(): void {
    this.#database.close();
  }

  steps(tenantId: string, sessionId: string, page: PageKeys): RawStep[] {
    return this.#page(STEPS, { tenant_id: tenantId, session_id: sessionId }, page);
  }

  lastSteps(tenantId: string, sessionId: string, count: number): RawStep[] {
    return this.steps(tenantId, sessionId, { limit: count, afterSeq: null, order: 'desc' }).reverse();
  }

  heldSteps(tenantId: string, sessionId: string): RawStep[] {
    return this.#all(`${STEPS} WHERE tenant_id = ? AND session_id = ? AND held = 1 ORDER BY seq`, [
      tenantId,
      sessionId,
    ]);
  }

  stepsByTrace(tenantId: string, traceId: string): RawStep[] {
    return this.#all(`${STEPS} WHERE tenant_id = ? AND trace_id = ? ORDER BY seq`, [tenantId, traceId]);
  }

  stepsAfter(seq: number, limit: number): RawStep[] {
    return this.#all(`${STEPS} WHERE seq > ? ORDER BY seq LIMIT ?`, [seq, limit]);
  }

  recentStepKeys(limit: number) {
    return this.#all<ReturnType<ReadCalls['recentStepKeys']>[number]>(
      'SELECT tenant_id, session_id, trace_id, body_hash FROM steps ORDER BY seq DESC LIMIT ?',
      [limit],
    ).reverse();
  }

  oldestStepMs(): number | null {
    return (
      this.#get<{ at_ms: number }>(
        'SELECT received_at_ms AS at_ms FROM steps WHERE held = 0 ORDER BY seq LIMIT 1',
        [],
      )?.at_ms ?? null
    );
  }

  sessions(keys: SessionKeys): RawSession[] {
    const clauses = ['tenant_id = ?'];
    const values: unknown[] = [keys.tenantId];
    const narrow = (clause: string, ...bound: unknown[]) => {
      clauses.push(clause);
      values.push(...bound);
    };
    if (keys.severity !== undefined) narrow('severity = ?', keys.severity);
    if (keys.agentId !== undefined) narrow('agent_id = ?', keys.agentId);
    if (keys.ended !== undefined) narrow('ended = ?', keys.ended ? 1 : 0);
    if (keys.search) narrow('instr(search, ?) > 0', keys.search);
    if (keys.after)
      narrow('(last_seen_ms, session_id) < (?, ?)', keys.after.lastSeenMs, keys.after.sessionId);
    return this.#all(
      `${SESSIONS} WHERE ${clauses.join(' AND ')} ORDER BY last_seen_ms DESC, session_id DESC LIMIT ?`,
      [...values, keys.limit],
    );
  }

  session(tenantId: string, sessionId: string): RawSession | null {
    return this.#get(`${SESSIONS} WHERE tenant_id = ? AND session_id = ?`, [tenantId, sessionId]);
  }

  recentSessions(limit: number): { checkpointSeq: number; rows: RawSession[] } {
    // One snapshot: rows of a later checkpoint would count the steps between twice.
    return this.#database.transaction(() => ({
      checkpointSeq:
        this.#get<{ value: number }>('SELECT value FROM counters WHERE name = ?', [SESSION_CHECKPOINT])
          ?.value ?? 0,
      rows: this.#all<RawSession>(`${SESSIONS} ORDER BY last_seen_ms DESC LIMIT ?`, [limit]),
    }))();
  }

  controls(): ControlRow[] {
    return this.#all<RawControl>(
      `SELECT * FROM controls WHERE state <> 'active' OR directives <> '[]'`,
      [],
    ).map(toControlRow);
  }

  control(tenantId: string, sessionId: string): ControlRow | null {
    const row = this.#get<RawControl>('SELECT * FROM controls WHERE tenant_id = ? AND session_id = ?', [
      tenantId,
      sessionId,
    ]);
    return row && toControlRow(row);
  }

  alertGroup(tenantId: string, sessionId: string): AlertGroup | null {
    const row = this.#get<Omit<AlertGroup, 'latest'> & { latest: string }>(
      `SELECT session_id, agent_id, alert_count, first_at_ms, last_at_ms, latest FROM alert_groups
       WHERE tenant_id = ? AND session_id = ?`,
      [tenantId, sessionId],
    );
    return row && { ...row, latest: JSON.parse(row.latest) };
  }

  alerts(tenantId: string, sessionId: string | null, page: PageKeys): RawEvent[] {
    return this.#page('SELECT seq, event FROM alerts', { tenant_id: tenantId, session_id: sessionId }, page);
  }

  violations(tenantId: string, page: PageKeys): RawEvent[] {
    return this.#page('SELECT seq, event FROM violations', { tenant_id: tenantId }, page);
  }

  audit(tenantId: string, sessionId: string | null, page: PageKeys): AuditEntry[] {
    return this.#page<AuditRow>(
      `SELECT * FROM audit`,
      { tenant_id: tenantId, session_id: sessionId },
      page,
    ).map(toAuditEntry);
  }

  verifyAuditPiece(tenantId: string, from: AuditHead) {
    return this.#auditReader.verifyPiece(tenantId, from);
  }

  agentKeys(): AgentKeyRow[] {
    return this.#records('agent_keys');
  }

  operators(): OperatorRow[] {
    return this.#records('operators');
  }

  logins(): LoginRow[] {
    return this.#records('logins');
  }

  settings(): [key: string, value: string][] {
    return this.#all<{ key: string; value: string }>('SELECT key, value FROM settings ORDER BY key', []).map(
      ({ key, value }) => [key, value],
    );
  }

  #records<T>(table: 'agent_keys' | 'operators' | 'logins'): T[] {
    return this.#all<{ record: string }>(`SELECT record FROM ${table} ORDER BY rowid`, []).map(({ record }) =>
      JSON.parse(record),
    );
  }

  /** Keyset page by `seq`; a null in `equal` leaves that column free. */
  #page<T>(select: string, equal: Record<string, string | null>, { limit, afterSeq, order }: PageKeys): T[] {
    const bound = Object.entries(equal).filter(([, value]) => value !== null);
    const clauses = bound.map(([column]) => `${column} = ?`);
    const values: unknown[] = bound.map(([, value]) => value);
    if (afterSeq !== null) {
      clauses.push(order === 'asc' ? 'seq > ?' : 'seq < ?');
      values.push(afterSeq);
    }
    return this.#all(
      `${select} WHERE ${clauses.join(' AND ')} ORDER BY seq ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT ?`,
      [...values, limit],
    );
  }

  #all<T>(sql: string, values: unknown[]): T[] {
    return this.#prepared(sql).all(...values) as T[];
  }

  #get<T>(sql: string, values: unknown[]): T | null {
    return (this.#prepared(sql).get(...values) as T | undefined) ?? null;
  }

  #prepared(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

type RawControl = Omit<ControlRow, 'cooperative' | 'directives'> & { cooperative: 0 | 1; directives: string };

const toControlRow = (row: RawControl): ControlRow => ({
  ...row,
  cooperative: row.cooperative === 1,
  directives: JSON.parse(row.directives),
});
