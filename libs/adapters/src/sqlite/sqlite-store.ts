/**
 * The durable store of steps, control, audit and access. This side pages and turns rows into what the port promises;
 * SQL is in sqlite-writer.ts and sqlite-reader.ts, threads and batching behind sqlite-database.ts.
 */
import {
  type AgentKeyRow,
  type AlertGroup,
  AUDIT_READ_CHARS_MAX,
  type AuditDraft,
  type AuditEntry,
  type AuditVerification,
  type ControlCommit,
  type ControlRow,
  type ControlWrite,
  checkLimit,
  type DecisionStore,
  decodeCursor,
  type EntropyAlertEvent,
  type EntropyToolKey,
  encodeCursor,
  type HeldCount,
  type LastTuples,
  type LoginRow,
  type OperatorRow,
  type Page,
  type PageQuery,
  type SessionFilter,
  type SessionKey,
  type SessionView,
  STEPS_READ_CHARS_MAX,
  type StepCommit,
  type StepRow,
  type StoredStep,
  type StoredViolation,
  type ViolationEvent,
} from '#contracts';
import { AUDIT_GENESIS, type AuditHead } from '#domain/hitl';
import { pageKeys, seqPage, toPage } from './page.js';
import type { Primitive, SessionPlace, SettingText } from './protocol.js';
import { enforceRetention } from './retention-run.js';
import {
  foldCase,
  pushSession,
  toAlert,
  toAuditEntry,
  toSessionView,
  toStoredStep,
  toViolation,
} from './rows.js';
import { countWithin } from './rows-within.js';
import { SqliteDatabase, type SqliteDatabaseOptions } from './sqlite-database.js';

export class SqliteStore implements DecisionStore {
  /** Opened and closed with this store; SqliteProxyStore stands on the same. */
  readonly database: SqliteDatabase;

  /** @param options of the database that the store opens */
  constructor(options: SqliteDatabaseOptions) {
    this.database = new SqliteDatabase(options);
  }

  open(): Promise<void> {
    return this.database.open();
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async probe(): Promise<void> {
    await this.database.pump.probe();
  }

  get queuedCount(): number {
    return this.database.queuedCount;
  }

  refusal(tenantId: string): 'store_busy' | 'store_full' | null {
    return this.database.refusal(tenantId);
  }

  appendSteps(rows: StepRow[]): Promise<StepCommit[]> {
    try {
      return this.database.pump.appendSteps(rows);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async appendAlert(tenantId: string, event: EntropyAlertEvent): Promise<void> {
    await this.database.pump.call('appendAlert', [tenantId, event]);
  }

  async appendViolation(tenantId: string, event: ViolationEvent): Promise<void> {
    const atMs = Date.parse(event.timestamp);
    const countedFromMs = Number.isFinite(atMs) ? atMs : this.database.clock.nowMs();
    // Strangers cause violations: they are bounded like steps, and leave the reserve to operators.
    await this.database.pump.call('appendViolation', [tenantId, event, countedFromMs], tenantId);
  }

  async saveSessions(
    rows: { tenant_id: string; view: SessionView }[],
    checkpointSeq: number,
    releasedSeqs: readonly number[] = [],
  ): Promise<void> {
    const { pump } = this.database;
    const values: Primitive[] = [];
    for (const { tenant_id, view } of rows) pushSession(values, tenant_id, view);
    await pump.saveSessions(values, checkpointSeq, releasedSeqs);
  }

  async commitControl(write: ControlWrite): Promise<ControlCommit> {
    const { audit, released, has_more_held, rewritten } = await this.database.pump.call('commitControl', [
      write,
    ]);
    return {
      audit,
      released: released.map(toStoredStep),
      has_more_held,
      rewritten: rewritten && toStoredStep(rewritten),
    };
  }

  async steps(
    query: PageQuery & { tenant_id: string; session_id: string; order?: 'asc' | 'desc' },
  ): Promise<Page<StoredStep>> {
    const page = pageKeys('steps', query, query.order);
    const rows = await this.database.read('steps', query.tenant_id, query.session_id, page);
    return seqPage(
      'steps',
      rows,
      Math.min(query.limit, countWithin(rows, STEPS_READ_CHARS_MAX)),
      toStoredStep,
    );
  }

  lastTuples(
    tenantId: string,
    sessionId: string,
    count: number,
    toolKey: EntropyToolKey,
  ): Promise<LastTuples | null> {
    return this.database.read('lastTuples', tenantId, sessionId, count, toolKey);
  }

  async heldSteps(tenantId: string, sessionId: string, limit: number): Promise<StoredStep[]> {
    return (await this.database.read('heldSteps', tenantId, sessionId, limit)).map(toStoredStep);
  }

  heldCounts(): Promise<HeldCount[]> {
    return this.database.read('heldCounts');
  }

  async heldStep(tenantId: string, sessionId: string, traceId: string): Promise<StoredStep | null> {
    const step = await this.database.read('heldStep', tenantId, sessionId, traceId);
    return step && toStoredStep(step);
  }

  async stepByTrace(tenantId: string, traceId: string, bodyHash?: string): Promise<StoredStep | null> {
    const step = await this.database.read('stepByTrace', tenantId, traceId, bodyHash ?? null);
    return step && toStoredStep(step);
  }

  async unfoldedReleases(afterSeq: number, limit: number): Promise<StoredStep[]> {
    return (await this.database.read('unfoldedReleases', afterSeq, limit)).map(toStoredStep);
  }

  async stepsAfter(seq: number, limit: number): Promise<StoredStep[]> {
    return (await this.database.read('stepsAfter', seq, limit)).map(toStoredStep);
  }

  recentStepKeys(limit: number) {
    return this.database.read('recentStepKeys', limit);
  }

  async sessions(filter: SessionFilter): Promise<Page<SessionView>> {
    const limit = checkLimit(filter);
    const key =
      filter.cursor === undefined ? null : decodeCursor('sessions', filter.cursor, ['number', 'string']);
    const { rows, lookedUpTo } = await this.database.read('sessions', {
      tenantId: filter.tenant_id,
      limit: limit + 1,
      after: key && { lastSeenMs: key[0], sessionId: key[1] },
      search: filter.q && foldCase(filter.q),
      severity: filter.severity,
      agentId: filter.agent_id,
      ended: filter.ended,
    });
    const cursorOf = ({ lastSeenMs, sessionId }: SessionPlace) =>
      encodeCursor('sessions', [lastSeenMs, sessionId]);
    const page = toPage(rows, limit, toSessionView, (row) =>
      cursorOf({ lastSeenMs: row.last_seen_ms, sessionId: row.session_id }),
    );
    return lookedUpTo === null ? page : { ...page, next_cursor: cursorOf(lookedUpTo) };
  }

  async session(tenantId: string, sessionId: string): Promise<SessionView | null> {
    const row = await this.database.read('session', tenantId, sessionId);
    return row && toSessionView(row);
  }

  async recentSessions(limit: number) {
    const { checkpointSeq, rows } = await this.database.read('recentSessions', limit);
    return {
      checkpointSeq,
      rows: rows.map((row) => ({ tenant_id: row.tenant_id, view: toSessionView(row) })),
    };
  }

  controls(endedMax: number): Promise<ControlRow[]> {
    return this.database.read('controls', endedMax);
  }

  control(tenantId: string, sessionId: string): Promise<ControlRow | null> {
    return this.database.read('control', tenantId, sessionId);
  }

  alertGroup(tenantId: string, sessionId: string): Promise<AlertGroup | null> {
    return this.database.read('alertGroup', tenantId, sessionId);
  }

  async alerts(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined },
  ): Promise<Page<EntropyAlertEvent & { seq: number }>> {
    const page = pageKeys('alerts', query);
    const rows = await this.database.read('alerts', query.tenant_id, query.session_id ?? null, page);
    return seqPage('alerts', rows, query.limit, toAlert);
  }

  async violations(query: PageQuery & { tenant_id: string }): Promise<Page<StoredViolation>> {
    const rows = await this.database.read('violations', query.tenant_id, pageKeys('violations', query));
    return seqPage('violations', rows, query.limit, toViolation);
  }

  async audit(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined; order?: 'asc' | 'desc' },
  ): Promise<Page<AuditEntry>> {
    const page = pageKeys('audit', query, query.order);
    const rows = await this.database.read('audit', query.tenant_id, query.session_id ?? null, page);
    const count = Math.min(query.limit, countWithin(rows, AUDIT_READ_CHARS_MAX));
    return seqPage('audit', rows, count, toAuditEntry);
  }

  async verifyAudit(tenantId: string): Promise<AuditVerification> {
    let from: AuditHead = AUDIT_GENESIS;
    let entryCount = 0;
    while (true) {
      // Piece by piece, so that other reads get their turn.
      const { head, isLast, ...piece } = await this.database.read('verifyAuditPiece', tenantId, from);
      entryCount += piece.entry_count;
      if (isLast) return { ...piece, entry_count: entryCount };
      from = head;
    }
  }

  async saveAgentKey(row: AgentKeyRow, audit?: AuditDraft): Promise<void> {
    await this.database.pump.call('saveAgentKey', [row, audit ?? null]);
  }

  async deleteAgentKey(keyId: string): Promise<void> {
    await this.database.pump.call('deleteAgentKey', [keyId]);
  }

  agentKeys(): Promise<AgentKeyRow[]> {
    return this.database.read('agentKeys');
  }

  async saveOperator(row: OperatorRow, audit?: AuditDraft): Promise<void> {
    await this.database.pump.call('saveOperator', [row, audit ?? null]);
  }

  async deleteOperator(tokenId: string): Promise<void> {
    await this.database.pump.call('deleteOperator', [tokenId]);
  }

  operators(): Promise<OperatorRow[]> {
    return this.database.read('operators');
  }

  async saveLogin(row: LoginRow): Promise<void> {
    await this.database.pump.call('saveLogin', [row, this.database.clock.nowMs()]);
  }

  async deleteLogin(cookieHash: string): Promise<void> {
    await this.database.pump.call('deleteLogin', [cookieHash]);
  }

  logins(): Promise<LoginRow[]> {
    return this.database.read('logins');
  }

  async saveSettings(values: ReadonlyMap<string, unknown>, audit?: AuditDraft): Promise<void> {
    const texts = [...values].map(([key, value]): SettingText => [key, JSON.stringify(value) ?? null]);
    await this.database.pump.call('saveSettings', [texts, audit ?? null]);
  }

  async settings(): Promise<Map<string, unknown>> {
    return new Map((await this.database.read('settings')).map(([key, value]) => [key, JSON.parse(value)]));
  }

  async reserveSequences(count: number, firstAtLeast: number): Promise<number> {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`count must be at least 1, got ${count}`);
    return this.database.pump.call('reserveSequences', [count, firstAtLeast]);
  }

  async enforceRetention(
    bounds: { beforeMs: number | null; bytesMax: number | null },
    onSessionsDeleted?: (keys: readonly SessionKey[]) => void,
  ): Promise<{ deleted_count: number; is_over_bytes: boolean }> {
    return enforceRetention(this.database.pump, bounds, onSessionsDeleted);
  }
}
