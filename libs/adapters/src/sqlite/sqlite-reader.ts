/**
 * The reading half of the store, synchronous, on a connection of its own: write-ahead mode lets it run beside the
 * writer and see everything committed before it asks.
 */
import type { Database } from 'better-sqlite3';
import type {
  AgentKeyRow,
  AlertGroup,
  ControlRow,
  EntropyToolKey,
  EntropyTuple,
  HeldCount,
  LastTuples,
  LoginRow,
  OperatorRow,
} from '#contracts';
import { AUDIT_READ_CHARS_MAX, STEPS_READ_CHARS_MAX } from '#contracts/store';
import { tupleOf } from '#domain/entropy/tool-key';
import type { AuditHead } from '#domain/hitl';
import { AUDIT_ROWS, AuditReader } from './audit-log.js';
import { READ_COUNTER } from './counters.js';
import { openReaderConnection } from './database-file.js';
import { PreparedStatements } from './prepared-statements.js';
import type {
  PageKeys,
  RawAudit,
  RawEvent,
  RawSession,
  RawStep,
  ReadCallName,
  ReadCalls,
  SessionKeys,
  SessionsFound,
} from './protocol.js';
import type { ProxyReadCalls } from './proxy/proxy-protocol.js';
import { ProxyReader } from './proxy/proxy-reader.js';
import { countWithin, takeWithin } from './rows-within.js';
import { SESSION_CHECKPOINT } from './schema.js';
import { SessionFinder } from './session-finder.js';
import { StepFinder } from './step-finder.js';
import { RAW_STEP_LIST } from './step-table.js';

const STEPS = `SELECT ${RAW_STEP_LIST} FROM steps`;
const HELD = 'tenant_id = ? AND session_id = ? AND held = 1';
/** As the index of these says it. */
const NOT_PLAINLY_ACTIVE = `(state <> 'active' OR directives <> '[]')`;
const SESSIONS = 'SELECT tenant_id, session_id, last_seen_ms, view FROM sessions';
/** The newest of each tenant, then the second of each: however many sessions one has, the others' are among them. */
const RECENT_SESSIONS = `${SESSIONS} WHERE rowid IN (
  SELECT rowid FROM sessions
  ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY last_seen_ms DESC), last_seen_ms DESC LIMIT ?
) ORDER BY last_seen_ms DESC`;
const HELD_COUNTS = `SELECT tenant_id, session_id, count(*) AS held_count FROM steps WHERE held = 1
  GROUP BY tenant_id, session_id`;
/** Terminated sessions stay for good, so that no start may read them all. */
const CONTROLS = `SELECT * FROM controls
  WHERE ${NOT_PLAINLY_ACTIVE} AND (state <> 'terminated' OR rowid IN (
    SELECT rowid FROM controls WHERE ${NOT_PLAINLY_ACTIVE} AND state = 'terminated'
    ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY since_ms DESC), since_ms DESC LIMIT ?
  )) ORDER BY since_ms`;

type NamedReads = Record<ReadCallName, (...args: unknown[]) => unknown>;

export class SqliteReader implements Omit<ReadCalls, keyof ProxyReadCalls> {
  readonly #database: Database;
  readonly #auditReader: AuditReader;
  readonly #sql: PreparedStatements;
  readonly #finder: StepFinder;
  readonly #sessionFinder: SessionFinder;
  readonly #proxy: ProxyReader;

  /** @throws Error with a reason, if there is no readable database at `path` */
  constructor(path: string) {
    this.#database = openReaderConnection(path);
    this.#sql = new PreparedStatements(this.#database);
    this.#finder = new StepFinder(this.#database);
    this.#sessionFinder = new SessionFinder(this.#database);
    this.#proxy = new ProxyReader(this.#database);
    this.#auditReader = new AuditReader(this.#database);
  }

  run(name: ReadCallName, args: unknown[]): unknown {
    const owner = (name in this.#proxy ? this.#proxy : this) as unknown as NamedReads;
    return owner[name](...args);
  }

  close(): void {
    this.#database.close();
  }

  steps(tenantId: string, sessionId: string, page: PageKeys): RawStep[] {
    return this.#finder.ofSession(tenantId, sessionId, page);
  }

  /** Read here and one by one: senders decide how long a body is, and ingest waits for the thread that asks. */
  lastTuples(tenantId: string, sessionId: string, count: number, toolKey: EntropyToolKey): LastTuples | null {
    const page: PageKeys = { limit: count, afterSeq: null, order: 'desc' };
    return this.#finder.inSession(tenantId, sessionId, page, (steps) => {
      let agentId: string | null = null;
      const tuples: EntropyTuple[] = [];
      for (const { agent_id, body } of steps) {
        agentId ??= agent_id;
        tuples.push(tupleOf(JSON.parse(body), toolKey));
        if (tuples.length === count) break;
      }
      return agentId === null ? null : { agent_id: agentId, tuples: tuples.reverse() };
    });
  }

  heldSteps(tenantId: string, sessionId: string, limit: number): RawStep[] {
    return this.#firstSteps(HELD, [tenantId, sessionId], limit);
  }

  heldCounts(): HeldCount[] {
    return this.#sql.all(HELD_COUNTS, []);
  }

  heldStep(tenantId: string, sessionId: string, traceId: string): RawStep | null {
    return this.#sql.get(`${STEPS} WHERE ${HELD} AND trace_id = ? ORDER BY seq LIMIT 1`, [
      tenantId,
      sessionId,
      traceId,
    ]);
  }

  stepByTrace(tenantId: string, traceId: string, bodyHash: string | null): RawStep | null {
    return this.#finder.ofTrace(tenantId, traceId, bodyHash);
  }

  stepsAfter(seq: number, limit: number): RawStep[] {
    return this.#firstSteps('seq > ?', [seq], limit);
  }

  unfoldedReleases(afterSeq: number, limit: number): RawStep[] {
    return this.#firstSteps('seq IN (SELECT seq FROM unfolded_releases WHERE seq > ?)', [afterSeq], limit);
  }

  recentStepKeys(limit: number) {
    return this.#sql
      .all<ReturnType<ReadCalls['recentStepKeys']>[number]>(
        'SELECT tenant_id, session_id, trace_id, body_hash FROM steps ORDER BY seq DESC LIMIT ?',
        [limit],
      )
      .reverse();
  }

  sessions(keys: SessionKeys): SessionsFound {
    return this.#sessionFinder.find(keys);
  }

  session(tenantId: string, sessionId: string): RawSession | null {
    return this.#sql.get(`${SESSIONS} WHERE tenant_id = ? AND session_id = ?`, [tenantId, sessionId]);
  }

  recentSessions(limit: number): { checkpointSeq: number; rows: RawSession[] } {
    // One snapshot: rows of a later checkpoint would count the steps between twice.
    return this.#database.transaction(() => ({
      checkpointSeq: this.#sql.get<{ value: number }>(READ_COUNTER, [SESSION_CHECKPOINT])?.value ?? 0,
      rows: this.#sql.all<RawSession>(RECENT_SESSIONS, [limit]),
    }))();
  }

  controls(endedMax: number): ControlRow[] {
    return this.#sql.all<RawControl>(CONTROLS, [endedMax]).map(toControlRow);
  }

  control(tenantId: string, sessionId: string): ControlRow | null {
    const row = this.#sql.get<RawControl>('SELECT * FROM controls WHERE tenant_id = ? AND session_id = ?', [
      tenantId,
      sessionId,
    ]);
    return row && toControlRow(row);
  }

  alertGroup(tenantId: string, sessionId: string): AlertGroup | null {
    const row = this.#sql.get<Omit<AlertGroup, 'latest'> & { latest: string }>(
      `SELECT session_id, agent_id, alert_count, first_at_ms, last_at_ms, latest FROM alert_groups
       WHERE tenant_id = ? AND session_id = ?`,
      [tenantId, sessionId],
    );
    return row && { ...row, latest: JSON.parse(row.latest) };
  }

  alerts(tenantId: string, sessionId: string | null, page: PageKeys): RawEvent[] {
    return this.#sql.page(
      'SELECT seq, event FROM alerts',
      { tenant_id: tenantId, session_id: sessionId },
      page,
    );
  }

  violations(tenantId: string, page: PageKeys): RawEvent[] {
    return this.#sql.page('SELECT seq, event FROM violations', { tenant_id: tenantId }, page);
  }

  audit(tenantId: string, sessionId: string | null, page: PageKeys): RawAudit[] {
    const equal = { tenant_id: tenantId, session_id: sessionId };
    const rows = this.#sql.eachOfPage<RawAudit>(AUDIT_ROWS, equal, page);
    return takeWithin(rows, page.limit, AUDIT_READ_CHARS_MAX);
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
    return this.#sql
      .all<{ key: string; value: string }>('SELECT key, value FROM settings ORDER BY key', [])
      .map(({ key, value }) => [key, value]);
  }

  /** As many as are read at once, the oldest first. */
  #firstSteps(where: string, values: unknown[], limit: number): RawStep[] {
    const sql = `${STEPS} WHERE ${where} ORDER BY seq LIMIT ?`;
    const steps = takeWithin(this.#sql.each<RawStep>(sql, [...values, limit]), limit, STEPS_READ_CHARS_MAX);
    return steps.slice(0, countWithin(steps, STEPS_READ_CHARS_MAX));
  }

  #records<T>(table: 'agent_keys' | 'operators' | 'logins'): T[] {
    return this.#sql
      .all<{ record: string }>(`SELECT record FROM ${table} ORDER BY rowid`, [])
      .map(({ record }) => JSON.parse(record));
  }
}

type RawControl = Omit<ControlRow, 'cooperative' | 'proxied' | 'directives' | 'asked_by'> & {
  cooperative: 0 | 1;
  proxied: 0 | 1;
  directives: string;
  asked_by: string;
};

const toControlRow = (row: RawControl): ControlRow => ({
  ...row,
  cooperative: row.cooperative === 1,
  proxied: row.proxied === 1,
  directives: JSON.parse(row.directives),
  asked_by: JSON.parse(row.asked_by),
});
