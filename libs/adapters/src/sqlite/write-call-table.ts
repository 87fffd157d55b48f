/**
 * The rare writes, by name: alerts, violations, control, access, settings, sequences; the proxy's and those of retention
 * are done by their owners. Each runs inside the writer's transaction.
 */
import type { Database } from 'better-sqlite3';
import type {
  AgentKeyRow,
  AuditDraft,
  ControlRow,
  ControlWrite,
  EntropyAlertEvent,
  LoginRow,
  OperatorRow,
  ViolationEvent,
} from '#contracts';
import { AuditLog } from './audit-log.js';
import { PreparedStatements } from './prepared-statements.js';
import type { RawControlCommit, RetentionCalls, SettingText, WriteCallName, WriteCalls } from './protocol.js';
import type { ProxyWriteCalls } from './proxy/proxy-protocol.js';
import { ProxyWriteTable } from './proxy/proxy-write-table.js';
import type { Retention } from './retention.js';
import type { StepTable } from './step-table.js';

/** Name in `counters` of the last live sequence number given away. */
const LIVE_SEQ = 'live_seq';

const NOTHING_RELEASED = { released: [], has_more_held: false };

type NamedWrites = Record<WriteCallName, (...args: unknown[]) => unknown>;

export class WriteCallTable implements Omit<WriteCalls, keyof (ProxyWriteCalls & RetentionCalls)> {
  readonly #steps: StepTable;
  readonly #retention: Retention;
  readonly #audit: AuditLog;
  readonly #sql: PreparedStatements;
  readonly #proxy: ProxyWriteTable;

  constructor(database: Database, steps: StepTable, retention: Retention) {
    this.#sql = new PreparedStatements(database);
    this.#audit = new AuditLog(database);
    this.#proxy = new ProxyWriteTable(database, this.#audit);
    this.#steps = steps;
    this.#retention = retention;
  }

  /** @param args JSON text of the argument list */
  run(name: WriteCallName, args: string): unknown {
    const owner = [this.#proxy, this.#retention, this].find((one) => name in one) as unknown as NamedWrites;
    return owner[name](...JSON.parse(args)) ?? null;
  }

  appendAlert(tenantId: string, event: EntropyAlertEvent): void {
    const text = JSON.stringify(event);
    this.#sql
      .prepare('INSERT INTO alerts (tenant_id, session_id, at_ms, event) VALUES (?, ?, ?, ?)')
      .run(tenantId, event.session_id, event.at_ms, text);
    this.#sql
      .prepare(
        `INSERT INTO alert_groups (tenant_id, session_id, agent_id, alert_count, first_at_ms, last_at_ms, latest)
       VALUES (@tenantId, @sessionId, @agentId, 1, @atMs, @atMs, @text)
       ON CONFLICT (tenant_id, session_id) DO UPDATE SET agent_id = excluded.agent_id,
         alert_count = alert_count + 1, last_at_ms = excluded.last_at_ms, latest = excluded.latest`,
      )
      .run({ tenantId, sessionId: event.session_id, agentId: event.agent_id, atMs: event.at_ms, text });
  }

  appendViolation(tenantId: string, event: ViolationEvent, atMs: number): void {
    this.#sql
      .prepare('INSERT INTO violations (tenant_id, at_ms, event) VALUES (?, ?, ?)')
      .run(tenantId, atMs, JSON.stringify(event));
  }

  commitControl(write: ControlWrite): RawControlCommit {
    const rewritten = write.rewrite ? this.#steps.rewriteHeld(write.rewrite) : null;
    // The message went out meanwhile, or never was: an audit entry of its rewriting would be untrue.
    if (write.rewrite && rewritten === null) {
      return { audit: [], released: [], has_more_held: false, rewritten: null };
    }
    if (write.control) this.#saveControl(write.control);
    const { released, has_more_held } = write.release ? this.#steps.release(write.release) : NOTHING_RELEASED;
    const audit = (write.audit ?? []).map((draft) => this.#audit.append(draft));
    return { audit, released, has_more_held, rewritten };
  }

  saveAgentKey(row: AgentKeyRow, audit: AuditDraft | null): void {
    this.#sql
      .prepare(
        'INSERT INTO agent_keys (key_id, record) VALUES (?, ?) ON CONFLICT (key_id) DO UPDATE SET record = excluded.record',
      )
      .run(row.key_id, JSON.stringify(row));
    if (audit !== null) this.#audit.append(audit);
  }

  deleteAgentKey(keyId: string): void {
    this.#sql.prepare('DELETE FROM agent_keys WHERE key_id = ?').run(keyId);
  }

  saveOperator(row: OperatorRow, audit: AuditDraft | null): void {
    this.#sql
      .prepare(
        'INSERT INTO operators (token_id, record) VALUES (?, ?) ON CONFLICT (token_id) DO UPDATE SET record = excluded.record',
      )
      .run(row.token_id, JSON.stringify(row));
    if (audit !== null) this.#audit.append(audit);
  }

  deleteOperator(tokenId: string): void {
    this.#sql.prepare('DELETE FROM operators WHERE token_id = ?').run(tokenId);
  }

  saveLogin(row: LoginRow, nowMs: number): void {
    this.#sql.prepare('DELETE FROM logins WHERE expires_at_ms < ?').run(nowMs);
    this.#sql
      .prepare(
        `INSERT INTO logins (cookie_hash, expires_at_ms, record) VALUES (?, ?, ?)
       ON CONFLICT (cookie_hash) DO UPDATE SET expires_at_ms = excluded.expires_at_ms, record = excluded.record`,
      )
      .run(row.cookie_hash, row.expires_at_ms, JSON.stringify(row));
  }

  deleteLogin(cookieHash: string): void {
    this.#sql.prepare('DELETE FROM logins WHERE cookie_hash = ?').run(cookieHash);
  }

  saveSettings(texts: readonly SettingText[], audit: AuditDraft | null): void {
    const save = this.#sql.prepare(
      'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    );
    const drop = this.#sql.prepare('DELETE FROM settings WHERE key = ?');
    for (const [key, text] of texts) {
      if (text === null) drop.run(key);
      else save.run(key, text);
    }
    if (audit !== null) this.#audit.append(audit);
  }

  reserveSequences(count: number, firstAtLeast: number): number {
    const last = this.#sql
      .prepare(
        `INSERT INTO counters (name, value) VALUES (:name, :before + :count)
       ON CONFLICT (name) DO UPDATE SET value = max(value, :before) + :count RETURNING value`,
      )
      .pluck()
      .get({ name: LIVE_SEQ, before: firstAtLeast - 1, count }) as number;
    return last - count + 1;
  }

  probe(bytes: number): void {
    // The new block before the old one goes: writing into its place would prove nothing.
    const { lastInsertRowid } = this.#sql
      .prepare('INSERT INTO disk_probe (filler) VALUES (randomblob(?))')
      .run(bytes);
    this.#sql.prepare('DELETE FROM disk_probe WHERE id <> ?').run(lastInsertRowid);
  }

  #saveControl(row: ControlRow): void {
    this.#sql
      .prepare(
        `INSERT INTO controls (tenant_id, session_id, state, operator_id, reason, since_ms, expires_at_ms, cooperative,
         proxied, directive_seq, directives, asked_by)
       VALUES (@tenant_id, @session_id, @state, @operator_id, @reason, @since_ms, @expires_at_ms, @cooperative,
         @proxied, @directive_seq, @directives, @asked_by)
       ON CONFLICT (tenant_id, session_id) DO UPDATE SET state = excluded.state, operator_id = excluded.operator_id,
         reason = excluded.reason, since_ms = excluded.since_ms, expires_at_ms = excluded.expires_at_ms,
         cooperative = excluded.cooperative, proxied = excluded.proxied, directive_seq = excluded.directive_seq,
         directives = excluded.directives, asked_by = excluded.asked_by`,
      )
      .run({
        ...row,
        cooperative: row.cooperative ? 1 : 0,
        proxied: row.proxied ? 1 : 0,
        directives: JSON.stringify(row.directives),
        asked_by: JSON.stringify(row.asked_by),
      });
  }
}
