/**
 * For specs: a desk on an in-memory store that writes first in, first out like the real one,
 * a clock that moves by hand, and a record of everything that was published.
 */
import { pino } from 'pino';
import { Registry } from 'prom-client';
import {
  type AuditDraft,
  type AuditEntry,
  type ControlCommit,
  type ControlRow,
  type ControlView,
  type ControlWrite,
  type DecisionLog,
  type HeldCount,
  ObservatoryError,
  type OperatorPrincipal,
  RELEASED_STEPS_MAX,
  type RuntimeConfig,
  type SessionEvent,
  type SessionKey,
  type SessionView,
  type StepCommit,
  type StoredStep,
  sessionKey,
  splitSessionKey,
} from '#contracts';
import { FakeTime } from '#testing';
import type { SessionDirectory } from '../decision-log/session-directory.js';
import { showControl } from '../decision-log/session-row.js';
import type { ControlBounds } from './control-bounds.js';
import { HitlDesk } from './hitl-desk.js';
import { HitlEvents } from './hitl-events.js';

/** The part of DecisionStore the desk uses. Writes commit in order: each turn by themselves, or by hand. */
export class FakeStore {
  readonly rows = new Map<SessionKey, ControlRow>();
  readonly audit: AuditEntry[] = [];
  readonly steps: StoredStep[] = [];
  /** Every write is refused while set. */
  refuses: 'store_busy' | null = null;
  /** Writes wait for `commit()`. */
  isManual = false;
  writeCount = 0;
  /** No process gives one that another has given. */
  idCount = 0;
  /** Of one release. */
  releasedMax = RELEASED_STEPS_MAX;
  #queue: (() => void)[] = [];

  get queuedCount(): number {
    return this.#queue.length;
  }

  /** Commits the oldest `count` writes in one go. */
  commit(count = this.#queue.length): void {
    for (const write of this.#queue.splice(0, count)) write();
  }

  /** The process dies: what was not committed never happens. */
  loseQueued(): void {
    this.#queue = [];
  }

  #write<T>(run: () => T): Promise<T> {
    if (this.refuses !== null) return Promise.reject(new ObservatoryError(this.refuses));
    this.writeCount += 1;
    return new Promise((resolve) => {
      this.#queue.push(() => resolve(run()));
      if (!this.isManual) queueMicrotask(() => this.commit());
    });
  }

  appendStep(key: SessionKey, traceId: string, isHeld: boolean): Promise<StepCommit> {
    return this.#write(() => {
      const seq = this.steps.length + 1;
      this.steps.push(storedStep(key, traceId, isHeld, seq));
      return { seq, duplicate: false };
    });
  }

  commitControl(write: ControlWrite): Promise<ControlCommit> {
    return this.#write(() => {
      let rewritten: StoredStep | null = null;
      if (write.rewrite) {
        const { tenant_id, session_id, trace_id, body, rewritten_by } = write.rewrite;
        const step = this.#held(tenant_id, session_id).find((held) => held.trace_id === trace_id);
        if (step === undefined) return { audit: [], released: [], has_more_held: false, rewritten: null };
        Object.assign(step, { log: JSON.parse(body) as DecisionLog, rewritten_by });
        rewritten = { ...step };
      }
      if (write.control) {
        this.rows.set(
          sessionKey(write.control.tenant_id, write.control.session_id),
          structuredClone(write.control),
        );
      }
      const held = write.release ? this.#held(write.release.tenant_id, write.release.session_id) : [];
      const released = held.slice(0, this.releasedMax);
      for (const step of released) step.held = false;
      return {
        audit: (write.audit ?? []).map((draft) => this.#chain(draft)),
        released: released.map((step) => ({ ...step })),
        has_more_held: held.length > released.length,
        rewritten,
      };
    });
  }

  async controls(endedMax = Number.POSITIVE_INFINITY): Promise<ControlRow[]> {
    let endedCount = 0;
    const rows = [...this.rows.values()].filter((row) => {
      if (row.state === 'terminated') endedCount += 1;
      return row.state === 'terminated'
        ? endedCount <= endedMax
        : row.state !== 'active' || row.directives.length > 0;
    });
    return structuredClone(rows);
  }

  async control(tenantId: string, sessionId: string): Promise<ControlRow | null> {
    return structuredClone(this.rows.get(sessionKey(tenantId, sessionId)) ?? null);
  }

  async heldCounts(): Promise<HeldCount[]> {
    const keys = this.steps
      .filter((step) => step.held)
      .map((step) => sessionKey(step.tenant_id, step.session_id));
    return [...new Set(keys)].map((key) => {
      const { tenantId, sessionId } = splitSessionKey(key);
      const held_count = keys.filter((each) => each === key).length;
      return { tenant_id: tenantId, session_id: sessionId, held_count };
    });
  }

  async heldStep(tenantId: string, sessionId: string, traceId: string): Promise<StoredStep | null> {
    return this.#held(tenantId, sessionId).find((step) => step.trace_id === traceId) ?? null;
  }

  #held(tenantId: string, sessionId: string): StoredStep[] {
    return this.steps.filter(
      (step) => step.held && step.tenant_id === tenantId && step.session_id === sessionId,
    );
  }

  #chain(draft: AuditDraft): AuditEntry {
    const entry = { ...draft, seq: this.audit.length + 1, prev_hash: '', hash: '' };
    this.audit.push(entry);
    return entry;
  }
}

function storedStep(key: SessionKey, traceId: string, isHeld: boolean, seq: number): StoredStep {
  const { tenantId, sessionId } = splitSessionKey(key);
  return {
    tenant_id: tenantId,
    session_id: sessionId,
    agent_id: 'a-1',
    trace_id: traceId,
    body_hash: traceId,
    received_at_ms: 0,
    held: isHeld,
    entropy_score: 1,
    entropy_severity: 'normal',
    window_size: 1,
    seq,
    rewritten_by: null,
    body_chars: 2,
    log: {
      meta: { trace_id: traceId, timestamp: '2026-02-22T10:00:00Z', session_id: sessionId },
      identity: { agent_id: 'a-1', agent_type: 'coder', capability_version: '1.0.0' },
      cognition: { intent: 'clean up', entropy_score: 1 },
      action: { status: 'pending', tool_call: 'delete', tool_input: { path: '/' } },
    },
  };
}

export const TENANT = 'default';

export const operator = (operatorId = 'ada', tenantId = TENANT): OperatorPrincipal => ({
  kind: 'operator',
  operator_id: operatorId,
  role: 'operator',
  tenant_id: tenantId,
  tenant_ids: [tenantId],
  isInForce: () => true,
});

/** A desk and everything around it. `restart` makes the next one on the same store. */
export class DeskHarness {
  readonly store: FakeStore;
  readonly time: FakeTime;
  readonly metrics = new Registry();
  readonly config: Partial<Record<keyof RuntimeConfig, unknown>> = {};
  /** Trace ids in the order in which operators saw them. */
  readonly published: string[] = [];
  readonly events: SessionEvent[] = [];
  /** As the list of sessions shows them. */
  readonly views = new Map<SessionKey, ControlView>();
  readonly known = new Set<SessionKey>();
  readonly logged: string[] = [];
  /** What is released is shown once this has resolved. */
  showing: Promise<void> = Promise.resolve();
  readonly desk: HitlDesk;

  private constructor(store: FakeStore, time: FakeTime, bounds?: ControlBounds) {
    this.store = store;
    this.time = time;
    const logger = pino({ base: null }, { write: (line: string) => void this.logged.push(line) });
    this.desk = new HitlDesk({
      store,
      live: { publish: (_tenantId, _topic, payload) => void this.events.push(payload as SessionEvent) },
      clock: time,
      timer: time,
      ids: { next: () => `d-${++store.idCount}` },
      config: { get: (key) => this.config[key] ?? undefined },
      events: new HitlEvents(logger, this.metrics),
      bounds,
    });
    this.config.hitl_pause_ttl_ms = 60_000;
    this.config.hitl_expiry_action = 'resume';
  }

  static async start(
    store = new FakeStore(),
    time = new FakeTime(),
    bounds?: ControlBounds,
  ): Promise<DeskHarness> {
    const harness = new DeskHarness(store, time, bounds);
    await harness.desk.load();
    for (const key of store.rows.keys()) harness.known.add(key);
    harness.desk.connect(harness.#directory());
    harness.desk.startClock();
    await harness.desk.settled();
    return harness;
  }

  /** The process ends without a goodbye; the next one starts on what was committed. */
  restart(bounds?: ControlBounds): Promise<DeskHarness> {
    return DeskHarness.start(this.store, this.time, bounds);
  }

  /** A session with one published step. */
  async session(sessionId = 's-1', tenantId = TENANT): Promise<SessionKey> {
    const key = sessionKey(tenantId, sessionId);
    await this.step(key, `${sessionId}-first`);
    return key;
  }

  /** One message as the ingest path takes it. */
  async step(key: SessionKey, traceId: string) {
    const recalled = this.desk.recall(key);
    if (recalled !== null) await recalled;
    const isHeld = this.desk.isHolding(key);
    await this.store.appendStep(key, traceId, isHeld);
    this.known.add(key);
    if (isHeld) this.desk.noteHeld(key);
    else this.published.push(traceId);
    this.desk.noteStep(key);
    return this.desk.answerFor(key);
  }

  /** Audit as `operator action before>after outcome`. */
  audited(): string[] {
    return this.store.audit.map(
      ({ operator_id, action, before_state, after_state, outcome }) =>
        `${operator_id} ${action} ${before_state}>${after_state} ${outcome}`,
    );
  }

  async metric(name: string): Promise<number> {
    const metric = await this.metrics.getSingleMetric(name)?.get();
    return metric?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
  }

  #directory(): SessionDirectory {
    return {
      find: async (key) => (this.known.has(key) ? ({} as SessionView) : null),
      setControl: (key, control) => {
        const row = { control: this.views.get(key) ?? control } as SessionView;
        showControl(row, control);
        this.views.set(key, row.control);
        return row.control;
      },
      publishReleased: async (_key, steps) => {
        await this.showing;
        this.published.push(...steps.map((step) => step.trace_id));
      },
    };
  }
}
