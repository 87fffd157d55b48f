/**
 * Durable memory of the gateway. Every promise that settles a write settles after it is on disk; writes
 * of one tick share a commit. A full queue or disk rejects with `store_busy` / `store_full`
 * (ObservatoryError with retryAfterSeconds), and nothing of the rejected write is kept. What touches a damaged page rejects with
 * `store_damaged`, a read too.
 */
import type { AgentKey, OperatorToken } from '../auth.js';
import type {
  AlertGroup,
  DecisionLog,
  EntropyAlertEvent,
  EntropyTuple,
  Severity,
  ViolationEvent,
} from '../decision-log.js';
import type { AuditEntry, ControlState, Directive } from '../hitl.js';
import type { SessionKey } from '../identity.js';
import type { EntropyToolKey } from '../runtime-config.js';
import type { SessionView } from '../session.js';

/** One step as it is written. */
export interface StepRow {
  tenant_id: string;
  session_id: string;
  agent_id: string;
  trace_id: string;
  /** Hash of the message as the agent sent it; (tenant_id, trace_id, body_hash) is unique. */
  body_hash: string;
  received_at_ms: number;
  /** 0 | 1 */
  held: number;
  entropy_score: number;
  entropy_severity: Severity;
  /** 0: it could not be scored, and `entropy_score` is the agent's own. */
  window_size: number;
  /** JSON text of the DecisionLog as its agent reported it: a reader writes score and severity into it, which stand above. */
  body: string;
}

/** One step as it is read. */
export interface StoredStep extends Omit<StepRow, 'body' | 'held'> {
  seq: number;
  held: boolean;
  rewritten_by: string | null;
  log: DecisionLog;
  /** Length of its JSON text. */
  body_chars: number;
}

export interface StepCommit {
  seq: number;
  /** The step was there already: nothing was written, `seq` is the first one's. */
  duplicate: boolean;
}

export interface ControlRow {
  tenant_id: string;
  session_id: string;
  state: ControlState;
  operator_id: string | null;
  reason: string | null;
  /** Agents that asked for a person in this pause, in the order in which they did. */
  asked_by: string[];
  since_ms: number | null;
  expires_at_ms: number | null;
  /** An agent polled, acknowledged or held a socket for this session. */
  cooperative: boolean;
  /** Its LLM calls pass the proxy: whatever the client does, a pause holds them, and guidance is for its model. */
  proxied: boolean;
  /** Seq of the latest directive issued. */
  directive_seq: number;
  /** Not yet taken by the agent, ascending. */
  directives: Directive[];
}

/** Audit entry before the store has chained it. */
export type AuditDraft = Omit<AuditEntry, 'seq' | 'prev_hash' | 'hash'>;

/** Written in one transaction; any part may be absent. */
export interface ControlWrite {
  control?: ControlRow;
  audit?: AuditDraft[];
  /**
   * Clears `held` on the oldest held steps of this session, at most RELEASED_STEPS_MAX and STEPS_READ_CHARS_MAX, and
   * returns them in order.
   */
  release?: { tenant_id: string; session_id: string };
  /** Replaces the body of one held step. */
  rewrite?: { tenant_id: string; session_id: string; trace_id: string; body: string; rewritten_by: string };
}

/** Of one commit: whoever resumes a session that held many must not stand in the way of all others. */
export const RELEASED_STEPS_MAX = 250;

/**
 * Characters of steps' bodies that are read at once: the step that passes it is the last. Senders decide how long their
 * steps are, and a page of the longest ones would not fit into memory.
 */
export const STEPS_READ_CHARS_MAX = 16 * 1024 * 1024;
/** Likewise of the audit: an entry holds what an operator wrote in place of a step's input. */
export const AUDIT_READ_CHARS_MAX = 4 * 1024 * 1024;

export interface ControlCommit {
  audit: AuditEntry[];
  released: StoredStep[];
  /** More are held. */
  has_more_held: boolean;
  /** Null if `rewrite` was absent or found no held step (then nothing at all was written). */
  rewritten: StoredStep | null;
}

export interface LastTuples {
  agent_id: string;
  tuples: EntropyTuple[];
}

export interface HeldCount {
  tenant_id: string;
  session_id: string;
  held_count: number;
}

export interface Page<T> {
  /** May be fewer than asked for, or none, before the last page: a search for what is rare looks at so many rows at most. */
  items: T[];
  /** Opaque; null on the last page. */
  next_cursor: string | null;
}

export interface PageQuery {
  /** 1..LIMITS.pageRowsMax */
  limit: number;
  cursor?: string | undefined;
}

export interface SessionFilter extends PageQuery {
  tenant_id: string;
  /** Matches session id, agent id, last intent or last tool, case-insensitively. */
  q?: string | undefined;
  severity?: Severity | undefined;
  agent_id?: string | undefined;
  ended?: boolean | undefined;
}

export interface StoredViolation extends ViolationEvent {
  seq: number;
}

export interface AgentKeyRow extends AgentKey {
  /** SHA-256 of the secret, hex. */
  secret_hash: string;
}

export interface OperatorRow extends OperatorToken {
  secret_hash: string;
}

export interface LoginRow {
  /** SHA-256 of the cookie's value, hex. */
  cookie_hash: string;
  token_id: string;
  operator_id: string;
  tenant_id: string;
  expires_at_ms: number;
}

export interface AuditVerification {
  ok: boolean;
  entry_count: number;
  /** Seq of the first entry whose hash or link is wrong; null when ok. */
  broken_at_seq: number | null;
}

export interface DecisionStore {
  /** Opens, migrates, starts the worker. Rejects with a clear reason. */
  open(): Promise<void>;
  /** Commits what is queued, then closes. */
  close(): Promise<void>;
  /** Resolves while the store can write; rejects with the reason otherwise. For `/readyz`. */
  probe(): Promise<void>;
  /** Writes accepted, not yet committed. */
  readonly queuedCount: number;
  /**
   * Why a step of that tenant would be refused right now, or null. Cheap, synchronous: asked before work is done, by somebody who
   * has a step. Where it is refused that counts as one that was.
   */
  refusal(tenantId: string): 'store_busy' | 'store_full' | null;

  /** In commit order; results in the order of `rows`. Not atomic over rows that share a call with a duplicate. */
  appendSteps(rows: StepRow[]): Promise<StepCommit[]>;
  appendAlert(tenantId: string, event: EntropyAlertEvent): Promise<void>;
  appendViolation(tenantId: string, event: ViolationEvent): Promise<void>;
  /**
   * Session rows as of step `checkpointSeq`: what is later is folded in again after a crash. So is what was released from a
   * hold, whatever its number, until it is among the `releasedSeqs` of a save: these are in its rows.
   */
  saveSessions(
    rows: { tenant_id: string; view: SessionView }[],
    checkpointSeq: number,
    releasedSeqs?: readonly number[],
  ): Promise<void>;
  commitControl(write: ControlWrite): Promise<ControlCommit>;

  /** Newest-first page of steps of one session, or oldest-first with `order: 'asc'`; shorter for STEPS_READ_CHARS_MAX. */
  steps(
    query: PageQuery & { tenant_id: string; session_id: string; order?: 'asc' | 'desc' },
  ): Promise<Page<StoredStep>>;
  /** What the last `count` steps of a session repeat, oldest first, and the agent of the last one; null where it has none. */
  lastTuples(
    tenantId: string,
    sessionId: string,
    count: number,
    toolKey: EntropyToolKey,
  ): Promise<LastTuples | null>;
  /** The oldest `limit` of what a session holds, oldest first; fewer for STEPS_READ_CHARS_MAX. */
  heldSteps(tenantId: string, sessionId: string, limit: number): Promise<StoredStep[]>;
  /** Of every session that holds steps, in no order. */
  heldCounts(): Promise<HeldCount[]>;
  /** The first held step of a session with this trace_id. */
  heldStep(tenantId: string, sessionId: string, traceId: string): Promise<StoredStep | null>;
  /**
   * The latest step with this trace_id, or the one with this body: a sender may have reused it. Of one used for more than
   * 10,000 steps, some step instead of the latest.
   */
  stepByTrace(tenantId: string, traceId: string, bodyHash?: string): Promise<StoredStep | null>;
  /** Ascending by seq, over all tenants, fewer for STEPS_READ_CHARS_MAX: for recovery. */
  stepsAfter(seq: number, limit: number): Promise<StoredStep[]>;
  /** Released from a hold, and in no saved session row yet; in the order and number of `stepsAfter`. */
  unfoldedReleases(afterSeq: number, limit: number): Promise<StoredStep[]>;
  /** Keys of the newest `limit` steps over all tenants, oldest first: fills the duplicate filter at start. */
  recentStepKeys(
    limit: number,
  ): Promise<Pick<StepRow, 'tenant_id' | 'session_id' | 'trace_id' | 'body_hash'>[]>;

  /** Most recently seen first. */
  sessions(filter: SessionFilter): Promise<Page<SessionView>>;
  session(tenantId: string, sessionId: string): Promise<SessionView | null>;
  /** `limit` sessions over all tenants, of each by turns its newest, and the checkpoint they belong to. Newest first. */
  recentSessions(
    limit: number,
  ): Promise<{ checkpointSeq: number; rows: { tenant_id: string; view: SessionView }[] }>;
  /**
   * Every session whose control is not plainly active, or has directives waiting, in the order in which it came to that; of
   * terminated ones `endedMax`, of each tenant by turns its latest.
   */
  controls(endedMax: number): Promise<ControlRow[]>;
  control(tenantId: string, sessionId: string): Promise<ControlRow | null>;
  alertGroup(tenantId: string, sessionId: string): Promise<AlertGroup | null>;
  alerts(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined },
  ): Promise<Page<EntropyAlertEvent & { seq: number }>>;
  violations(query: PageQuery & { tenant_id: string }): Promise<Page<StoredViolation>>;
  /** Newest first, or oldest first with `order: 'asc'` (for export); a page is shorter for AUDIT_READ_CHARS_MAX. */
  audit(
    query: PageQuery & { tenant_id: string; session_id?: string | undefined; order?: 'asc' | 'desc' },
  ): Promise<Page<AuditEntry>>;
  verifyAudit(tenantId: string): Promise<AuditVerification>;

  /** @param audit written in the same transaction */
  saveAgentKey(row: AgentKeyRow, audit?: AuditDraft): Promise<void>;
  deleteAgentKey(keyId: string): Promise<void>;
  agentKeys(): Promise<AgentKeyRow[]>;
  /** @param audit written in the same transaction */
  saveOperator(row: OperatorRow, audit?: AuditDraft): Promise<void>;
  deleteOperator(tokenId: string): Promise<void>;
  operators(): Promise<OperatorRow[]>;
  saveLogin(row: LoginRow): Promise<void>;
  deleteLogin(cookieHash: string): Promise<void>;
  logins(): Promise<LoginRow[]>;
  /**
   * All of them or none.
   *
   * @param values of any JSON type; undefined: the setting goes
   * @param audit written in the same transaction
   */
  saveSettings(values: ReadonlyMap<string, unknown>, audit?: AuditDraft): Promise<void>;
  settings(): Promise<Map<string, unknown>>;

  /**
   * Reserves `count` live sequence numbers for this process; returns the first, which is at least `firstAtLeast`. Never returns a
   * number twice, across restarts.
   */
  reserveSequences(count: number, firstAtLeast: number): Promise<number>;
  /**
   * Deletes steps, alerts, violations, LLM calls and finished alert deliveries beyond the bounds; returns how many rows went, and
   * whether all of them did and the database still is larger than `bytesMax`.
   *
   * @param onSessionsDeleted told of the rows of emptied sessions that went, a bounded piece at a time. Must not throw
   */
  enforceRetention(
    bounds: { beforeMs: number | null; bytesMax: number | null },
    onSessionsDeleted?: (keys: readonly SessionKey[]) => void,
  ): Promise<{ deleted_count: number; is_over_bytes: boolean }>;
}
