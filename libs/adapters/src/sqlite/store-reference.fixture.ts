/**
 * What a DecisionStore promises, kept in plain lists and looked through from end to end: no index, no piece, no thread. Writes and reads
 * bear the names they have in the port, and answer at once; of a listing all of it is given, in its order.
 */
import type {
  AgentKeyRow,
  AlertGroup,
  AuditDraft,
  AuditEntry,
  AuditVerification,
  ControlCommit,
  ControlRow,
  ControlWrite,
  EntropyAlertEvent,
  HeldCount,
  LastTuples,
  LoginRow,
  OperatorRow,
  SessionFilter,
  SessionView,
  StepCommit,
  StepRow,
  StoredStep,
  StoredViolation,
  ViolationEvent,
} from '#contracts';
import { AUDIT_GENESIS, hashAuditEntry } from '#domain/hitl';

export interface Bounds {
  releasedStepsMax: number;
  stepsReadCharsMax: number;
}

type Step = StepRow & { seq: number; rewritten_by: string | null };
type Session = { tenant_id: string; view: SessionView };
type Alert = EntropyAlertEvent & { seq: number };
interface OfTenant<T> {
  tenant_id: string;
  at_ms: number;
  item: T;
}
type Order = 'asc' | 'desc';

/** What the database refuses: the write, and nothing else of its batch. */
export class Refused extends Error {}

export const nameOf = (...parts: unknown[]) => JSON.stringify(parts);
const isSession = (tenantId: string, sessionId: string) => (row: { tenant_id: string; session_id: string }) =>
  row.tenant_id === tenantId && row.session_id === sessionId;
export const inOrder = <T>(items: T[], order: Order = 'desc') =>
  order === 'asc' ? items : items.toReversed();
/** The place of the first that is young. */
export function keptFrom<T>(rows: readonly T[], beforeMs: number, atMsOf: (row: T) => number): number {
  const at = rows.findIndex((row) => atMsOf(row) >= beforeMs);
  return at === -1 ? rows.length : at;
}
/** As SQLite compares texts. */
export const compareBytes = (left: string, right: string) =>
  Buffer.compare(Buffer.from(left), Buffer.from(right));

export function requireWhole(...values: number[]): void {
  for (const value of values) if (!Number.isInteger(value)) throw new Refused(`${value} is not whole`);
}

export function toStored({ body, held, ...step }: Step): StoredStep {
  const log = JSON.parse(body);
  if (step.window_size > 0) log.cognition.entropy_score = step.entropy_score;
  log.cognition.entropy_severity = step.entropy_severity;
  return { ...step, held: held === 1, log, body_chars: body.length };
}

/** The first `limit`, up to the one with which they are longer than `charsMax`. */
export function within<T>(items: T[], limit: number, charsMax: number, charsOf: (item: T) => number): T[] {
  let chars = 0;
  return items.slice(0, limit).filter((item) => {
    const isRead = chars < charsMax;
    chars += charsOf(item);
    return isRead;
  });
}

/** Of each tenant by turns the first of `sorted`, and of these in turn as many as there are. */
function byTurns<T extends { tenant_id: string }>(sorted: T[], limit: number): T[] {
  const turnOf = (row: T) =>
    sorted.slice(0, sorted.indexOf(row)).filter(({ tenant_id }) => tenant_id === row.tenant_id).length;
  const turns = new Map(sorted.map((row) => [row, turnOf(row)]));
  const taken = sorted
    .toSorted((left, right) => (turns.get(left) ?? 0) - (turns.get(right) ?? 0))
    .slice(0, limit);
  return sorted.filter((row) => taken.includes(row));
}

export class StoreReference {
  readonly #bounds: Bounds;
  readonly #nowMs: () => number;
  allSteps: Step[] = [];
  #nextSeq = 1;
  #unfolded: number[] = [];
  allSessions = new Map<string, Session>();
  #checkpointSeq = 0;
  #controls = new Map<string, ControlRow>();
  #audit: AuditEntry[] = [];
  #alerts: OfTenant<Alert>[] = [];
  #alertSeq = 0;
  #groups = new Map<string, AlertGroup & { tenant_id: string }>();
  #violations: OfTenant<StoredViolation>[] = [];
  #violationSeq = 0;
  #keys = new Map<string, AgentKeyRow>();
  #operators = new Map<string, OperatorRow>();
  #logins = new Map<string, LoginRow>();
  #settings = new Map<string, unknown>();
  #liveSeq = 0;

  constructor(bounds: Bounds, nowMs: () => number) {
    this.#bounds = bounds;
    this.#nowMs = nowMs;
  }

  appendSteps(rows: StepRow[]): StepCommit[] {
    const added: Step[] = [];
    const commits = rows.map((row) => {
      const first = [...this.allSteps, ...added].find(
        (step) =>
          step.tenant_id === row.tenant_id &&
          step.trace_id === row.trace_id &&
          step.body_hash === row.body_hash,
      );
      if (first !== undefined) return { seq: first.seq, duplicate: true };
      requireWhole(row.received_at_ms);
      const seq = this.#nextSeq + added.length;
      added.push({ ...row, seq, rewritten_by: null });
      return { seq, duplicate: false };
    });
    this.allSteps.push(...added);
    this.#nextSeq += added.length;
    return commits;
  }

  saveSessions(rows: Session[], checkpointSeq: number, releasedSeqs: readonly number[] = []): void {
    requireWhole(...rows.map(({ view }) => view.last_seen_ms));
    for (const row of rows) this.allSessions.set(nameOf(row.tenant_id, row.view.session_id), row);
    this.#unfolded = this.#unfolded.filter((seq) => !releasedSeqs.includes(seq));
    this.#checkpointSeq = checkpointSeq;
  }

  commitControl({ control, audit = [], release, rewrite }: ControlWrite): ControlCommit {
    let rewritten: StoredStep | null = null;
    const { allSteps } = this;
    if (rewrite !== undefined) {
      const at = allSteps.findIndex(
        (step) =>
          isSession(rewrite.tenant_id, rewrite.session_id)(step) &&
          step.held === 1 &&
          step.trace_id === rewrite.trace_id,
      );
      const step = allSteps[at];
      if (step === undefined) return { audit: [], released: [], has_more_held: false, rewritten: null };
      if (control !== undefined) requireWhole(control.directive_seq);
      const { body, rewritten_by } = rewrite;
      this.allSteps = allSteps.with(at, { ...step, body, rewritten_by });
      rewritten = toStored({ ...step, body, rewritten_by });
    }
    if (control !== undefined) {
      requireWhole(control.directive_seq);
      this.#controls.set(nameOf(control.tenant_id, control.session_id), control);
    }
    const held = release ? this.#held(release.tenant_id, release.session_id) : [];
    const released = this.#read(held, this.#bounds.releasedStepsMax);
    const seqs = new Set(released.map(({ seq }) => seq));
    this.allSteps = this.allSteps.map((step) => (seqs.has(step.seq) ? { ...step, held: 0 } : step));
    this.#unfolded.push(...seqs);
    return {
      audit: audit.map((draft) => this.#append(draft)),
      released: released.map((step) => ({ ...step, held: false })),
      has_more_held: held.length > released.length,
      rewritten,
    };
  }

  appendAlert(tenant_id: string, event: EntropyAlertEvent): void {
    requireWhole(event.at_ms);
    const { session_id, agent_id, at_ms } = event;
    this.#alertSeq += 1;
    this.#alerts.push({ tenant_id, at_ms, item: { ...event, seq: this.#alertSeq } });
    const name = nameOf(tenant_id, session_id);
    const group = this.#groups.get(name) ?? { alert_count: 0, first_at_ms: at_ms };
    this.#groups.set(name, {
      tenant_id,
      session_id,
      agent_id,
      alert_count: group.alert_count + 1,
      first_at_ms: group.first_at_ms,
      last_at_ms: at_ms,
      latest: event,
    });
  }

  appendViolation(tenant_id: string, event: ViolationEvent): void {
    this.#violationSeq += 1;
    const at_ms = Date.parse(event.timestamp);
    this.#violations.push({
      tenant_id,
      at_ms: Number.isNaN(at_ms) ? this.#nowMs() : at_ms,
      item: { ...event, seq: this.#violationSeq },
    });
  }

  saveAgentKey(row: AgentKeyRow, audit?: AuditDraft): void {
    this.#keys.set(row.key_id, row);
    if (audit) this.#append(audit);
  }
  deleteAgentKey(keyId: string): void {
    this.#keys.delete(keyId);
  }
  saveOperator(row: OperatorRow, audit?: AuditDraft): void {
    this.#operators.set(row.token_id, row);
    if (audit) this.#append(audit);
  }
  deleteOperator(tokenId: string): void {
    this.#operators.delete(tokenId);
  }
  saveLogin(row: LoginRow): void {
    for (const [hash, { expires_at_ms }] of this.#logins)
      if (expires_at_ms < this.#nowMs()) this.#logins.delete(hash);
    this.#logins.set(row.cookie_hash, row);
  }
  deleteLogin(cookieHash: string): void {
    this.#logins.delete(cookieHash);
  }
  saveSettings(values: ReadonlyMap<string, unknown>, audit?: AuditDraft): void {
    for (const [key, value] of values)
      if (value === undefined) this.#settings.delete(key);
      else this.#settings.set(key, value);
    if (audit) this.#append(audit);
  }
  reserveSequences(count: number, firstAtLeast: number): number {
    const first = Math.max(this.#liveSeq + 1, firstAtLeast);
    this.#liveSeq = first + count - 1;
    return first;
  }

  /** What goes by age: of each kind the oldest rows, up to the first that is young. @returns how many */
  deleteOlder(beforeMs: number): number {
    const stepsKeptFrom = keptFrom(this.allSteps, beforeMs, ({ received_at_ms }) => received_at_ms);
    const gone = this.allSteps.slice(0, stepsKeptFrom).filter(({ held }) => held === 0);
    const alertCount = keptFrom(this.#alerts, beforeMs, ({ at_ms }) => at_ms);
    const violationCount = keptFrom(this.#violations, beforeMs, ({ at_ms }) => at_ms);
    return this.deleteFirst(gone.length, alertCount, violationCount);
  }

  /** The oldest of each kind, as many as that. @returns how many */
  deleteFirst(steps: number, alerts: number, violations: number): number {
    const free = this.allSteps.filter(({ held }) => held === 0);
    const gone = new Set(free.slice(0, steps));
    this.allSteps = this.allSteps.filter((step) => !gone.has(step));
    this.#unfolded = this.#unfolded.filter((seq) => this.allSteps.some((step) => step.seq === seq));
    const deletedCount =
      gone.size + Math.min(alerts, this.#alerts.length) + Math.min(violations, this.#violations.length);
    this.#alerts.splice(0, alerts);
    this.#violations.splice(0, violations);
    return deletedCount;
  }

  deleteAlertGroups(beforeMs: number): void {
    for (const [name, { last_at_ms }] of this.#groups) if (last_at_ms < beforeMs) this.#groups.delete(name);
  }

  deleteAlertGroup(tenantId: string, sessionId: string): void {
    this.#groups.delete(nameOf(tenantId, sessionId));
  }

  /** Session rows that have no steps, and whom no operator holds. */
  emptySessions(beforeMs: number): Session[] {
    return [...this.allSessions.values()].filter(({ tenant_id, view: { session_id, last_seen_ms } }) => {
      const state = this.control(tenant_id, session_id)?.state ?? 'active';
      return (
        last_seen_ms < beforeMs &&
        !this.allSteps.some(isSession(tenant_id, session_id)) &&
        (state === 'active' || state === 'terminated')
      );
    });
  }

  deleteSession({ tenant_id, view }: Session): void {
    this.allSessions.delete(nameOf(tenant_id, view.session_id));
  }

  /** Steps went that came after some that are there. */
  get hasGaps(): boolean {
    return this.allSteps.length < this.#nextSeq - (this.allSteps[0]?.seq ?? this.#nextSeq);
  }

  /** Later than anything that may go by age. */
  get endMs(): number {
    const times = [
      ...this.allSteps.map((step) => step.received_at_ms),
      ...[...this.#alerts, ...this.#violations].map((row) => row.at_ms),
    ];
    return Math.max(...times) + 1;
  }

  counts(): { steps: number; alerts: number; violations: number } {
    return { steps: this.allSteps.length, alerts: this.#alerts.length, violations: this.#violations.length };
  }

  steps({
    tenant_id,
    session_id,
    order,
  }: {
    tenant_id: string;
    session_id: string;
    order?: Order;
  }): StoredStep[] {
    return inOrder(this.allSteps.filter(isSession(tenant_id, session_id)).map(toStored), order);
  }

  lastTuples(tenantId: string, sessionId: string, count: number): LastTuples | null {
    const steps = this.steps({ tenant_id: tenantId, session_id: sessionId, order: 'asc' }).slice(-count);
    const last = steps.at(-1);
    if (last === undefined) return null;
    const tuples = steps.map(({ log: { cognition, action } }) => ({
      intent: cognition.intent,
      tool_call: action.tool_call ?? '',
      action_status: action.status,
    }));
    return { agent_id: last.agent_id, tuples };
  }

  heldSteps(tenantId: string, sessionId: string, limit: number): StoredStep[] {
    return this.#read(this.#held(tenantId, sessionId), limit);
  }

  heldCounts(): HeldCount[] {
    const all = this.allSteps.filter(({ held }) => held === 1);
    const names = new Set(all.map((step) => nameOf(step.tenant_id, step.session_id)));
    return [...names].map((name) => {
      const [tenant_id, session_id] = JSON.parse(name);
      return { tenant_id, session_id, held_count: all.filter(isSession(tenant_id, session_id)).length };
    });
  }

  heldStep(tenantId: string, sessionId: string, traceId: string): StoredStep | null {
    return this.#first(this.#held(tenantId, sessionId).filter((step) => step.trace_id === traceId));
  }

  stepByTrace(tenantId: string, traceId: string, bodyHash?: string): StoredStep | null {
    const found = this.allSteps.filter(
      (step) =>
        step.tenant_id === tenantId &&
        step.trace_id === traceId &&
        (bodyHash === undefined || step.body_hash === bodyHash),
    );
    return this.#first(found.reverse());
  }

  stepsAfter(seq: number, limit: number): StoredStep[] {
    return this.#read(
      this.allSteps.filter((step) => step.seq > seq),
      limit,
    );
  }

  unfoldedReleases(afterSeq: number, limit: number): StoredStep[] {
    const steps = this.allSteps.filter(({ seq }) => seq > afterSeq && this.#unfolded.includes(seq));
    return this.#read(steps, limit);
  }

  /** All of them. */
  unfolded(): StoredStep[] {
    return this.allSteps.filter(({ seq }) => this.#unfolded.includes(seq)).map(toStored);
  }

  recentStepKeys(limit: number) {
    return this.allSteps.slice(-limit).map(({ tenant_id, session_id, trace_id, body_hash }) => ({
      tenant_id,
      session_id,
      trace_id,
      body_hash,
    }));
  }

  sessions({ tenant_id, q, severity, agent_id, ended }: Omit<SessionFilter, 'limit'>): SessionView[] {
    const wanted = q?.toLowerCase() ?? '';
    return [...this.allSessions.values()]
      .filter((row) => row.tenant_id === tenant_id)
      .map(({ view }) => view)
      .filter(
        (view) =>
          [view.session_id, view.agent_id, view.last_intent, view.last_tool].some((text) =>
            text.toLowerCase().includes(wanted),
          ) &&
          (severity === undefined || view.severity === severity) &&
          (agent_id === undefined || view.agent_id === agent_id) &&
          (ended === undefined || view.ended === ended),
      )
      .sort(laterFirst);
  }

  session(tenantId: string, sessionId: string): SessionView | null {
    return this.allSessions.get(nameOf(tenantId, sessionId))?.view ?? null;
  }

  recentSessions(limit: number): { checkpointSeq: number; rows: Session[] } {
    const sorted = [...this.allSessions.values()].sort(
      (left, right) => right.view.last_seen_ms - left.view.last_seen_ms,
    );
    return { checkpointSeq: this.#checkpointSeq, rows: byTurns(sorted, limit) };
  }

  controls(endedMax: number): ControlRow[] {
    const listed = [...this.#controls.values()]
      .filter(({ state, directives }) => state !== 'active' || directives.length > 0)
      .sort((left, right) => (right.since_ms ?? -1) - (left.since_ms ?? -1));
    const ended = byTurns(
      listed.filter(({ state }) => state === 'terminated'),
      endedMax,
    );
    return listed.filter((row) => row.state !== 'terminated' || ended.includes(row)).reverse();
  }

  control(tenantId: string, sessionId: string): ControlRow | null {
    return this.#controls.get(nameOf(tenantId, sessionId)) ?? null;
  }

  alertGroup(tenantId: string, sessionId: string): AlertGroup | null {
    const found = this.#groups.get(nameOf(tenantId, sessionId));
    if (found === undefined) return null;
    const { tenant_id: _, ...group } = found;
    return group;
  }

  alerts({ tenant_id, session_id }: { tenant_id: string; session_id?: string | undefined }): Alert[] {
    const ofTenant = this.#alerts.filter((row) => row.tenant_id === tenant_id).map(({ item }) => item);
    return inOrder(ofTenant.filter((item) => session_id === undefined || item.session_id === session_id));
  }

  violations({ tenant_id }: { tenant_id: string }): StoredViolation[] {
    return inOrder(this.#violations.filter((row) => row.tenant_id === tenant_id).map(({ item }) => item));
  }

  audit(query: { tenant_id: string; session_id?: string | undefined; order?: Order }): AuditEntry[] {
    const { tenant_id, session_id, order } = query;
    const ofTenant = this.#audit.filter((entry) => entry.tenant_id === tenant_id);
    return inOrder(
      ofTenant.filter((entry) => session_id === undefined || entry.session_id === session_id),
      order,
    );
  }

  verifyAudit(tenant_id: string): AuditVerification {
    return { ok: true, entry_count: this.audit({ tenant_id }).length, broken_at_seq: null };
  }

  agentKeys = () => [...this.#keys.values()];
  operators = () => [...this.#operators.values()];
  logins = () => [...this.#logins.values()];
  settings = () => new Map(this.#settings);

  #held(tenantId: string, sessionId: string): Step[] {
    return this.allSteps.filter((step) => step.held === 1 && isSession(tenantId, sessionId)(step));
  }

  #read(steps: Step[], limit: number): StoredStep[] {
    return within(steps.map(toStored), limit, this.#bounds.stepsReadCharsMax, (step) => step.body_chars);
  }

  #first(steps: Step[]): StoredStep | null {
    const [step] = steps;
    return step === undefined ? null : toStored(step);
  }

  #append(draft: AuditDraft): AuditEntry {
    const { seq, hash: prev_hash } = this.audit({ tenant_id: draft.tenant_id })[0] ?? AUDIT_GENESIS;
    const unsigned = { ...draft, seq: seq + 1, prev_hash };
    const entry = { ...unsigned, hash: hashAuditEntry(unsigned) };
    this.#audit.push(entry);
    return entry;
  }
}

export const laterFirst = (left: SessionView, right: SessionView): number =>
  right.last_seen_ms - left.last_seen_ms || compareBytes(right.session_id, left.session_id);
