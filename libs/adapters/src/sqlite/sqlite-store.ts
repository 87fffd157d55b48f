/**
 * The durable store: one SQLite file, one thread that writes and one that reads. This side queues, pages and turns
 * rows into what the port promises; SQL is in sqlite-writer.ts and sqlite-reader.ts, batching in write-pump.ts.
 *
 * @see docs/decisions/0002-group-commit.md
 */
import {
  type AgentKeyRow,
  type AlertGroup,
  type AuditEntry,
  type AuditVerification,
  type ControlCommit,
  type ControlRow,
  type ControlWrite,
  type DecisionStore,
  type EntropyAlertEvent,
  type LoginRow,
  ObservatoryError,
  type OperatorRow,
  type Page,
  type PageQuery,
  type SessionFilter,
  type SessionView,
  type StepCommit,
  type StepRow,
  type StoredStep,
  type StoredViolation,
  type ViolationEvent,
} from '#contracts';
import { AUDIT_GENESIS, type AuditHead } from '#domain/hitl';
import type { Clock } from '#kernel';
import { type CursorKind, checkLimit, decodeCursor, encodeCursor, toPage } from './page-cursor.js';
import type { Durability, PageKeys, Primitive, ReadCallName, ReadCalls } from './protocol.js';
import { enforceRetention } from './retention-run.js';
import { foldCase, pushSession, toAlert, toSessionView, toStoredStep, toViolation } from './rows.js';
import type { StoreEvent } from './store-event.js';
import { ThreadLink } from './thread-link.js';
import { WritePump } from './write-pump.js';

/** Reads waiting at once; the next is refused with `store_busy`. */
const READS_PENDING_MAX = 1_000;

export interface SqliteStoreOptions {
  /** The database file; its folder is made if need be, `<path>.lock` is held while open. */
  path: string;
  clock: Clock;
  /** Must not throw. */
  onEvent?: (event: StoreEvent) => void;
  /** Rows queued before steps are refused with `store_busy`. */
  queueCountMax?: number;
  /** Their size in memory, about. */
  queueBytesMax?: number;
  /** What an acknowledged write survives; `power_loss` costs an fsync per commit. */
  durability?: Durability;
  /** Writes are refused with `store_full` while the file system has less: room for retention to work in. 0 = any. */
  freeBytesMin?: number;
  /** Bound on the database itself, in pages of 4 KiB; reaching it is a full disk. */
  pageCountMax?: number | null;
  /** The compiled sqlite-worker.js; null runs both halves in the caller's thread, for tests and small tools. */
  workerUrl?: URL | null;
}

interface OpenStore {
  writer: ThreadLink;
  reader: ThreadLink;
  pump: WritePump;
}

export class SqliteStore implements DecisionStore {
  readonly #options: Required<SqliteStoreOptions>;
  #open: OpenStore | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: SqliteStoreOptions) {
    const { workerUrl } = options;
    this.#options = {
      path: options.path,
      clock: options.clock,
      onEvent: options.onEvent ?? (() => {}),
      queueCountMax: options.queueCountMax ?? 20_000,
      queueBytesMax: options.queueBytesMax ?? 64 * 1024 * 1024,
      durability: options.durability ?? 'power_loss',
      freeBytesMin: options.freeBytesMin ?? 32 * 1024 * 1024,
      pageCountMax: options.pageCountMax ?? null,
      workerUrl: workerUrl === undefined ? new URL('./sqlite-worker.js', import.meta.url) : workerUrl,
    };
  }

  async open(): Promise<void> {
    if (this.#open !== null) throw new Error('the store is open already');
    const { path, durability, freeBytesMin, pageCountMax, workerUrl, onEvent } = this.#options;
    const settings = { path, durability, freeBytesMin, pageCountMax };
    let pump: WritePump | undefined;
    const onDeath = (detail: string) => {
      pump?.stop();
      onEvent({ kind: 'thread_failed', detail });
    };
    const writer = await ThreadLink.open(workerUrl, { role: 'writer', ...settings }, onDeath);
    try {
      const reader = await ThreadLink.open(workerUrl, { role: 'reader', ...settings }, onDeath);
      pump = new WritePump({ link: writer, ...this.#options });
      this.#open = { writer, reader, pump };
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  /** May be called again meanwhile or later: it is closed once. */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = null;
    });
    return this.#closing;
  }

  async #close(): Promise<void> {
    const open = this.#open;
    if (open === null) return;
    await open.pump.drain();
    this.#open = null;
    // The reader first: while it looks at an old page, the log cannot be folded in whole.
    await open.reader.close();
    await open.writer.close();
  }

  async probe(): Promise<void> {
    await this.#opened().pump.probe();
  }

  get queuedCount(): number {
    return this.#open?.pump.queuedCount ?? 0;
  }

  refusal(): 'store_busy' | 'store_full' | null {
    return this.#open === null ? 'store_busy' : this.#open.pump.refusal();
  }

  appendSteps(rows: StepRow[]): Promise<StepCommit[]> {
    if (this.#open === null) return Promise.reject(new ObservatoryError('draining'));
    return this.#open.pump.appendSteps(rows);
  }

  async appendAlert(tenantId: string, event: EntropyAlertEvent): Promise<void> {
    await this.#opened().pump.call('appendAlert', [tenantId, event]);
  }

  async appendViolation(tenantId: string, event: ViolationEvent): Promise<void> {
    const atMs = Date.parse(event.timestamp);
    const countedFromMs = Number.isFinite(atMs) ? atMs : this.#options.clock.nowMs();
    // Strangers cause violations: they are bounded like steps, and leave the reserve to operators.
    await this.#opened().pump.call('appendViolation', [tenantId, event, countedFromMs], 'bounded');
  }

  async saveSessions(rows: { tenant_id: string; view: SessionView }[], checkpointSeq: number): Promise<void> {
    const { pump } = this.#opened();
    const values: Primitive[] = [];
    for (const { tenant_id, view } of rows) pushSession(values, tenant_id, view);
    await pump.saveSessions(values, checkpointSeq);
  }

  async commitControl(write: ControlWrite): Promise<ControlCommit> {
    const { audit, released, rewritten } = await this.#opened().pump.call('commitControl', [write]);
    return { audit, released: released.map(toStoredStep), rewritten: rewritten && toStoredStep(rewritten) };
  }

  async steps(
    query: PageQuery & { tenant_id: string; session_id: string; order?: 'asc' | 'desc' },
  ): Promise<Page<StoredStep>> {
    const page = pageKeys('steps', query, query.order);
    const rows = await this.#read('steps', query.tenant_id, query.session_id, page);
    return seqPage('steps', rows, query.limit, toStoredStep);
  }

  async lastSteps(tenantId: string, sessionId: string, count: number): Promise<StoredStep[]> {
    return (await this.#read('lastSteps', tenantId, sessionId, count)).map(toStoredStep);
  }

  async heldSteps(tenantId: string, sessionId: string): Promise<StoredStep[]> {
    return (await this.#read('heldSteps', tenantId, sessionId)).map(toStoredStep);
  }

  async stepsByTrace(tenantId: string, traceId: string): Promise<StoredStep[]> {
    return (await this.#read('stepsByTrace', tenantId, traceId)).map(toStoredStep);
  }

  async stepsAfter(seq: number, limit: number): Promise<StoredStep[]> {
    return (await this.#read('stepsAfter', seq, limit)).map(toStoredStep);
  }

  recentStepKeys(limit: number) {
    return this.#read('recentStepKeys', limit);
  }

  async sessions(filter: SessionFilter): Promise<Page<SessionView>> {
    const limit = checkLimit(filter);
    const key =
      filter.cursor === undefined ? null : decodeCursor('sessions', filter.cursor, ['number', 'string']);
    const rows = await this.#read('sessions', {
      tenantId: filter.tenant_id,
      limit: limit + 1,
      after: key && { lastSeenMs: key[0], sessionId: key[1] },
      search: filter.q && foldCase(filter.q),
      severity: filter.severity,
      agentId: filter.agent_id,
      ended: filter.ended,
    });
    return toPage(rows, limit, toSessionView, (row) =>
      encodeCursor('sessions', [row.last_seen_ms, row.session_id]),
    );
  }

  async session(tenantId: string, sessionId: string): Promise<SessionView | null> {
    const row = await this.#read('session', tenantId, sessionId);
    return row && toSessionView(row);
  }

  async recentSessions(limit: number) {
    const { checkpointSeq, rows } = await this.#read('recentSessions', limit);
    return {
      checkpointSeq,
      rows: rows.map((row) => ({ tenant_id: row.tenant_id, view: toSessionView(row) })),
    };
  }

  controls(): Promise<ControlRow[]> {
    return this.#read('controls');
  }

  control(tenantId: string, sessionId: string): Promise<ControlRow | null> {
    return this.#read('control', tenantId, sessionId);
  }

  alertGroup(tenantId: string, sessionId: string): Promise<AlertGroup | null> {
    return this.#read('alertGroup', tenantId, sessionId);
  }

  async alerts(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined },
  ): Promise<Page<EntropyAlertEvent & { seq: number }>> {
    const page = pageKeys('alerts', query);
    const rows = await this.#read('alerts', query.tenant_id, query.session_id ?? null, page);
    return seqPage('alerts', rows, query.limit, toAlert);
  }

  async violations(query: PageQuery & { tenant_id: string }): Promise<Page<StoredViolation>> {
    const rows = await this.#read('violations', query.tenant_id, pageKeys('violations', query));
    return seqPage('violations', rows, query.limit, toViolation);
  }

  async audit(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined; order?: 'asc' | 'desc' },
  ): Promise<Page<AuditEntry>> {
    const page = pageKeys('audit', query, query.order);
    const rows = await this.#read('audit', query.tenant_id, query.session_id ?? null, page);
    return seqPage('audit', rows, query.limit, (entry) => entry);
  }

  async verifyAudit(tenantId: string): Promise<AuditVerification> {
    let from: AuditHead = AUDIT_GENESIS;
    let entryCount = 0;
    while (true) {
      // Piece by piece, so that other reads get their turn.
      const { head, isLast, ...piece } = await this.#read('verifyAuditPiece', tenantId, from);
      entryCount += piece.entry_count;
      if (isLast) return { ...piece, entry_count: entryCount };
      from = head;
    }
  }

  async saveAgentKey(row: AgentKeyRow): Promise<void> {
    await this.#opened().pump.call('saveAgentKey', [row]);
  }

  agentKeys(): Promise<AgentKeyRow[]> {
    return this.#read('agentKeys');
  }

  async saveOperator(row: OperatorRow): Promise<void> {
    await this.#opened().pump.call('saveOperator', [row]);
  }

  operators(): Promise<OperatorRow[]> {
    return this.#read('operators');
  }

  async saveLogin(row: LoginRow): Promise<void> {
    await this.#opened().pump.call('saveLogin', [row, this.#options.clock.nowMs()]);
  }

  async deleteLogin(cookieHash: string): Promise<void> {
    await this.#opened().pump.call('deleteLogin', [cookieHash]);
  }

  logins(): Promise<LoginRow[]> {
    return this.#read('logins');
  }

  async saveSetting(key: string, value: unknown): Promise<void> {
    await this.#opened().pump.call('saveSetting', [key, JSON.stringify(value ?? null)]);
  }

  async deleteSetting(key: string): Promise<void> {
    await this.#opened().pump.call('deleteSetting', [key]);
  }

  async settings(): Promise<Map<string, unknown>> {
    return new Map((await this.#read('settings')).map(([key, value]) => [key, JSON.parse(value)]));
  }

  async reserveSequences(count: number): Promise<number> {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`count must be at least 1, got ${count}`);
    return this.#opened().pump.call('reserveSequences', [count]);
  }

  async enforceRetention(bounds: {
    beforeMs: number | null;
    bytesMax: number | null;
  }): Promise<{ deleted_count: number }> {
    const { pump } = this.#opened();
    return enforceRetention({ pump, oldestStepMs: () => this.#read('oldestStepMs') }, bounds);
  }

  #opened(): OpenStore {
    if (this.#open === null) throw new ObservatoryError('draining');
    return this.#open;
  }

  async #read<Name extends ReadCallName>(
    name: Name,
    ...args: Parameters<ReadCalls[Name]>
  ): Promise<ReturnType<ReadCalls[Name]>> {
    const { reader } = this.#opened();
    if (reader.pendingCount >= READS_PENDING_MAX) {
      throw new ObservatoryError('store_busy', undefined, { retryAfterSeconds: 1 });
    }
    const { result } = await reader.ask({ kind: 'read', name, args });
    return result as ReturnType<ReadCalls[Name]>;
  }
}

/** One row more than the page shows, which tells whether there is a next page. */
function pageKeys(kind: CursorKind, query: PageQuery, order: 'asc' | 'desc' = 'desc'): PageKeys {
  const limit = checkLimit(query) + 1;
  return {
    limit,
    order,
    afterSeq: query.cursor === undefined ? null : decodeCursor(kind, query.cursor, ['number'])[0],
  };
}

function seqPage<Row extends { seq: number }, Item>(
  kind: CursorKind,
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
): Page<Item> {
  return toPage(rows, limit, toItem, (row) => encodeCursor(kind, [row.seq]));
}
