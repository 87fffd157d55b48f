/**
 * What the store's client says to its threads and what they answer. Everything here survives a structured
 * clone cheaply: the hot path is one flat array of primitives per batch, rare writes are one JSON text, and nested
 * values (logs, views, events) travel as the JSON text they are stored as.
 */
import type {
  AgentKeyRow,
  AlertGroup,
  AuditDraft,
  AuditEntry,
  AuditVerification,
  ControlRow,
  ControlWrite,
  EntropyAlertEvent,
  EntropyToolKey,
  HeldCount,
  LastTuples,
  LoginRow,
  OperatorRow,
  Severity,
  StepRow,
  StoredStep,
  ViolationEvent,
} from '#contracts';
import type { AuditHead } from '#domain/hitl';
import type { CallBatch, ProxyReadCalls, ProxyWriteCalls } from './proxy/proxy-protocol.js';
import type { StoreEvent } from './store-event.js';
import type { PageKeys, Primitive } from './wire.js';

export type { PageKeys, Primitive } from './wire.js';

/** How much a commit survives: a killed process, or the machine's power going. */
export type Durability = 'power_loss' | 'process';

/** `workerData` of each thread. */
export interface ThreadSettings {
  /** `searcher`: a reader that is asked what takes its time. @see isSearch */
  role: 'writer' | 'reader' | 'searcher' | 'checkpointer';
  path: string;
  durability: Durability;
  /** Least free space on the database's file system, its own free pages included, in bytes; 0 = not looked at. */
  freeBytesMin: number;
  /** `PRAGMA max_page_count`: the database's own bound; null = none. */
  pageCountMax: number | null;
}

/** Order in which a step's columns stand in the flat array; `stepWidth` values each. */
export const STEP_COLUMNS = [
  'tenant_id',
  'session_id',
  'agent_id',
  'trace_id',
  'body_hash',
  'received_at_ms',
  'held',
  'entropy_score',
  'entropy_severity',
  'window_size',
  'body',
] as const satisfies readonly (keyof StepRow)[];
export const stepWidth = STEP_COLUMNS.length;

/** Order of a session's columns in the flat array. */
export const SESSION_COLUMNS = [
  'tenant_id',
  'session_id',
  'agent_id',
  'severity',
  'ended',
  'last_seen_ms',
  'search',
  'view',
] as const;
export const sessionWidth = SESSION_COLUMNS.length;

/** A step as the database holds it: `body` is parsed by the client, which is cheaper than cloning what it holds. */
export type RawStep = Omit<StoredStep, 'log' | 'held'> & { held: 0 | 1; body: string };

export interface RawControlCommit {
  audit: AuditEntry[];
  released: RawStep[];
  has_more_held: boolean;
  rewritten: RawStep | null;
}

/** Where the first piece of a retention run begins. */
export const BEFORE_ALL = -1;

/** One bounded piece of a retention run. */
export interface RetentionPiece {
  deleted_count: number;
  /** Where the next piece goes on; null when this table is within its bound. */
  nextSeq: number | null;
}

/** Place of a session's row among all of them, the longest unseen first. */
export type SessionAge = [lastSeenMs: number, rowid: number];

export interface SessionPiece {
  deleted: [tenantId: string, sessionId: string][];
  /** Where the next piece goes on; null: none is left. */
  next: SessionAge | null;
}

export interface EvictionPiece extends RetentionPiece {
  /** What is older is gone, but for what is held; null where nothing was looked at. */
  goneBeforeMs: number | null;
  /** The database is too large, and what was left to delete was less than one piece. */
  is_over_bytes: boolean;
}

/** Tables that retention may shorten, by age. */
export const AGED_TABLES = [
  'steps',
  'alerts',
  'violations',
  'llm_calls',
  'alert_deliveries',
  'semantic_loops',
] as const;
export type AgedTable = (typeof AGED_TABLES)[number];

/** JSON text of a setting; null: it goes. */
export type SettingText = [key: string, text: string | null];

/** Writes other than steps, LLM calls and session rows. Arguments must be JSON values. */
export interface WriteCalls extends ProxyWriteCalls, RetentionCalls {
  appendAlert(tenantId: string, event: EntropyAlertEvent): void;
  appendViolation(tenantId: string, event: ViolationEvent, atMs: number): void;
  commitControl(write: ControlWrite): RawControlCommit;
  saveAgentKey(row: AgentKeyRow, audit: AuditDraft | null): void;
  deleteAgentKey(keyId: string): void;
  saveOperator(row: OperatorRow, audit: AuditDraft | null): void;
  deleteOperator(tokenId: string): void;
  /** Expired logins go at the same time, so the table stays as small as the number of people. */
  saveLogin(row: LoginRow, nowMs: number): void;
  deleteLogin(cookieHash: string): void;
  saveSettings(texts: readonly SettingText[], audit: AuditDraft | null): void;
  reserveSequences(count: number, firstAtLeast: number): number;
  /** Writes a block of `bytes` in place of the last such block: success means the disk has room for as much. */
  probe(bytes: number): void;
}
export type WriteCallName = keyof WriteCalls;

/** They make room. */
export interface RetentionCalls {
  deleteOlder(table: AgedTable, beforeMs: number, afterSeq: number): RetentionPiece;
  /** Deletes the oldest rows of all aged tables while the database is larger than `bytesMax`. */
  deleteOldest(bytesMax: number, afterSeq: number): EvictionPiece;
  /** Session rows last touched before `beforeMs` of which no step is left. */
  deleteEmptySessions(beforeMs: number, after: SessionAge): SessionPiece;
  /** Alert groups last touched before `beforeMs`. */
  deleteAlertGroups(beforeMs: number, afterSeq: number): RetentionPiece;
  /** Takes what leads to deleted steps out of the index, once there is enough of it; true while there is more. */
  sweepStepKeys(): boolean;
  /** Gives free pages back to the file system; true while there are more. */
  shrink(): boolean;
}

/**
 * What a write asks of a disk that is nearly full:
 *
 *     ordinary   steps, calls, rows: refused first
 *     command    what operators do, and what stops an agent: small and rare, so that there is room to stop what fills the disk
 *     freeing    it makes room, or is of a few bytes without which nobody could: taken whatever is left
 *
 * Only an ordinary one that is taken shows that the disk is no longer full.
 */
export type RoomAsked = 'ordinary' | 'command' | 'freeing';

const COMMAND_CALLS: ReadonlySet<string> = new Set<WriteCallName>([
  'commitControl',
  'commitAudited',
  'appendIncident',
  'saveSettings',
  'saveAgentKey',
  'saveOperator',
  'saveLogin',
  'deleteAgentKey',
  'deleteOperator',
  'deleteLogin',
]);
const FREEING_CALLS: ReadonlySet<string> = new Set<WriteCallName>([
  'deleteOlder',
  'deleteOldest',
  'deleteEmptySessions',
  'deleteAlertGroups',
  'sweepStepKeys',
  'shrink',
  // Without it there is no start, and nobody who makes room.
  'reserveSequences',
]);

export const roomAskedBy = (name: WriteCallName): RoomAsked =>
  FREEING_CALLS.has(name) ? 'freeing' : COMMAND_CALLS.has(name) ? 'command' : 'ordinary';

export type WriteOperation =
  /** `rowCounts`: how many rows each appended call brought, in order. */
  | { kind: 'steps'; values: Primitive[]; rowCounts: number[] }
  | { kind: 'sessions'; values: Primitive[]; checkpointSeq: number; releasedSeqs: readonly number[] }
  /** LLM calls; done with the seq of the first one, the others follow without a gap. */
  | { kind: 'calls'; batch: CallBatch }
  /** `args` is the JSON text of the argument list. */
  | { kind: 'call'; name: WriteCallName; args: string };

export const roomAsked = (operation: WriteOperation): RoomAsked =>
  operation.kind === 'call' ? roomAskedBy(operation.name) : 'ordinary';

export interface StepsResult {
  /** Seq of the first row that was new; the others follow without a gap. */
  firstSeq: number;
  /** Row index and seq of the first one, in turns, for every row that was there already; null for none. */
  duplicates: number[] | null;
  /** Per call the reason why it alone was undone, or null; null when all went well. */
  failures: (ThreadFailure | null)[] | null;
}
export type OperationResult =
  | { kind: 'steps'; steps: StepsResult }
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; failure: ThreadFailure };

/** Place of a session in the list of its tenant. */
export interface SessionPlace {
  lastSeenMs: number;
  sessionId: string;
}

export interface SessionKeys {
  tenantId: string;
  limit: number;
  after: SessionPlace | null;
  /** Lower-cased. */
  search?: string | undefined;
  severity?: Severity | undefined;
  agentId?: string | undefined;
  ended?: boolean | undefined;
}

/** Session rows as stored; `view` is JSON text. */
export interface RawSession {
  tenant_id: string;
  session_id: string;
  last_seen_ms: number;
  view: string;
}

export interface SessionsFound {
  rows: RawSession[];
  /** Where the search stopped before it had `limit` and before the end; null otherwise. */
  lookedUpTo: SessionPlace | null;
}

/** An entry of the audit as stored; `body` is its `detail` as JSON text. */
export type RawAudit = Omit<AuditEntry, 'detail'> & { body: string };

/** Alerts and violations as stored; `event` is JSON text. */
export interface RawEvent {
  seq: number;
  event: string;
}

/** One piece of a tenant's audit, checked; `head` is its last good entry, where the next piece goes on. */
export interface AuditPiece extends AuditVerification {
  head: AuditHead;
  /** Nothing is left to check, or nothing more need be. */
  isLast: boolean;
}

export interface ReadCalls extends ProxyReadCalls {
  steps(tenantId: string, sessionId: string, page: PageKeys): RawStep[];
  lastTuples(tenantId: string, sessionId: string, count: number, toolKey: EntropyToolKey): LastTuples | null;
  heldSteps(tenantId: string, sessionId: string, limit: number): RawStep[];
  heldCounts(): HeldCount[];
  heldStep(tenantId: string, sessionId: string, traceId: string): RawStep | null;
  stepByTrace(tenantId: string, traceId: string, bodyHash: string | null): RawStep | null;
  stepsAfter(seq: number, limit: number): RawStep[];
  unfoldedReleases(afterSeq: number, limit: number): RawStep[];
  recentStepKeys(limit: number): Pick<StepRow, 'tenant_id' | 'session_id' | 'trace_id' | 'body_hash'>[];
  sessions(keys: SessionKeys): SessionsFound;
  session(tenantId: string, sessionId: string): RawSession | null;
  recentSessions(limit: number): { checkpointSeq: number; rows: RawSession[] };
  controls(endedMax: number): ControlRow[];
  control(tenantId: string, sessionId: string): ControlRow | null;
  alertGroup(tenantId: string, sessionId: string): AlertGroup | null;
  alerts(tenantId: string, sessionId: string | null, page: PageKeys): RawEvent[];
  violations(tenantId: string, page: PageKeys): RawEvent[];
  audit(tenantId: string, sessionId: string | null, page: PageKeys): RawAudit[];
  verifyAuditPiece(tenantId: string, from: AuditHead): AuditPiece;
  agentKeys(): AgentKeyRow[];
  operators(): OperatorRow[];
  logins(): LoginRow[];
  settings(): [key: string, value: string][];
}
export type ReadCallName = keyof ReadCalls;

const SEARCHES: ReadonlySet<ReadCallName> = new Set(['sessions', 'calls', 'spend']);

/** It may look at every row a tenant has. Ingest asks for none of these, and must not wait behind one. */
export const isSearch = (name: ReadCallName): boolean => SEARCHES.has(name);

export type ThreadRequest =
  | { id: number; kind: 'write'; operations: WriteOperation[] }
  | { id: number; kind: 'read'; name: ReadCallName; args: unknown[] }
  /** Of the checkpointer, a piece; of the writer, all of the log, which begins anew. */
  | { id: number; kind: 'checkpoint' }
  | { id: number; kind: 'close' };

/** `full`: the disk took nothing of it. `busy`: another program holds the database. `failed`: a defect. */
export interface ThreadFailure {
  reason: 'full' | 'busy' | 'damaged' | 'failed';
  detail: string;
}

export type ThreadAnswer =
  | { id: number; ok: true; result: unknown; durationMs: number }
  | { id: number; ok: false; failure: ThreadFailure };

/** What a thread says unasked. */
export interface ThreadNotice {
  event: StoreEvent;
}

/** `id` of the answer that says whether the database could be opened. */
export const OPENED_ID = 0;
