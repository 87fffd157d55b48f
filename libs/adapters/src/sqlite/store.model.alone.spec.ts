/**
 * Whatever is written, in whatever order, and whenever the clock is set, rows grow old, the disk fills, or the process ends or dies:
 * the store answers as plain lists would. What it was acknowledged is there, what was refused or not finished left nothing, and a
 * listing that is read while others write gives each row once. Bounds are small, so that their seams are crossed in every run.
 */
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import {
  type AuditDraft,
  type AuditEntry,
  CONTROL_STATES,
  type ControlWrite,
  type Page,
  type PageQuery,
  SEVERITIES,
  type SessionView,
  type StepRow,
  type StoredStep,
} from '#contracts';
import { bodyHash } from '#domain/decision-log';
import {
  buildAlertEvent,
  buildAuditDraft,
  buildControlRow,
  buildDecisionLog,
  buildSessionView,
  buildStepRow,
  buildViolationEvent,
} from '#testing';
import type { SqliteStore } from './sqlite-store.js';
import { laterFirst, StoreReference, toStored } from './store-reference.fixture.js';
import {
  ALL,
  EVERYTHING,
  everyItem,
  expectPlainLists,
  optional,
  rarely,
  type StoreAct,
  StoreRun,
  type Walk,
  type Write,
} from './store-run.fixture.js';

const BOUNDS = { releasedStepsMax: 3, stepsReadCharsMax: 4_000 };
const AUDIT_READ_CHARS_MAX = 1_000;
vi.mock('../../../contracts/src/ports/store.js', async (original) => ({
  ...(await original<object>()),
  RELEASED_STEPS_MAX: 3,
  STEPS_READ_CHARS_MAX: 4_000,
  AUDIT_READ_CHARS_MAX: 1_000,
}));
/** A generation of steps is merged in several commits, and lies in several segments. */
vi.mock('./step-key.js', async (original) => ({ ...(await original<object>()), SEGMENT_STEPS: 4 }));
vi.mock('./step-keys.js', async (original) => {
  const { StepKeys } = await original<typeof import('./step-keys.js')>();
  return {
    StepKeys: class extends StepKeys {
      constructor(database: ConstructorParameters<typeof StepKeys>[0]) {
        super(database, 9);
      }
    },
  };
});
vi.mock('./session-finder.js', async (original) => {
  const { SessionFinder } = await original<typeof import('./session-finder.js')>();
  return {
    SessionFinder: class extends SessionFinder {
      constructor(database: ConstructorParameters<typeof SessionFinder>[0]) {
        super(database, 2);
      }
    },
  };
});

const TENANTS = ['default', 'a', 'a|b'];
const SESSIONS = ['s', 'a:b', '*', '😀 ﬀ', '\ufffd%_', 'Ä\u0000"', `long ${'x'.repeat(300)}`];
const EVERY_SESSION = TENANTS.flatMap((tenant) => SESSIONS.map((session) => [tenant, session] as const));
const TRACES = ['t', '1 t', 't\u0000', 'träce-猫', '', `long ${'y'.repeat(300)}`];
const HASHES = ['one', 'two', 'three'].map(bodyHash);
const AGENTS = ['Planner', 'clerk'];

type Method = Exclude<keyof SqliteStore & keyof StoreReference, 'steps'>;

const CHARS: Record<string, readonly [number, (item: unknown) => number]> = {
  steps: [BOUNDS.stepsReadCharsMax, (step: unknown) => (step as StoredStep).body_chars],
  audit: [AUDIT_READ_CHARS_MAX, (entry: unknown) => JSON.stringify((entry as AuditEntry).detail).length],
};

class Run extends StoreRun<Draft> {
  protected readonly reference = new StoreReference(BOUNDS, () => this.clock.nowMs());
  #serial = 0;

  constructor(folder: string, pageCountMax: number | null) {
    super(folder, pageCountMax, 100_000);
  }

  protected get port(): SqliteStore {
    return this.store;
  }

  protected writeOf({ name, draft, pick }: Draft): Write & { name: Method } {
    const { tenant_id, session_id } = draft;
    this.#serial += 1;
    const nowMs = this.clock.nowMs();
    const faulty = draft.isFaulty ? 0.5 : 0;
    const audit = draft.isAudited ? [auditOf(draft)] : [];
    const chosen = this.reference.allSteps[pick % (this.reference.allSteps.length + 1)];
    const seqs = this.reference.unfoldedReleases(0, 1 + (pick % 3)).map(({ seq }) => seq);
    switch (name) {
      case 'appendSteps':
        return { name, args: [draft.steps.map((step) => stepOf(step, nowMs))] };
      case 'saveSessions': {
        const rows = draft.views.map((view) => ({
          tenant_id,
          view: buildSessionView({ ...view, last_seen_ms: nowMs - view.last_seen_ms + faulty }),
        }));
        return { name, args: [rows, pick, seqs] };
      }
      case 'commitControl': {
        const session = draft.isOfStep && chosen ? chosen : draft;
        const of = { tenant_id: session.tenant_id, session_id: session.session_id };
        const write: ControlWrite = { audit: draft.isAudited ? [...audit, auditOf(draft)] : [] };
        if (draft.state !== null)
          write.control = buildControlRow({
            ...of,
            state: draft.state,
            since_ms: pick * 1_000 + this.#serial,
            directive_seq: pick + faulty,
            directives: pick % 3 === 0 ? [DIRECTIVE] : [],
          });
        if (draft.isReleased) write.release = of;
        if (draft.isRewritten)
          write.rewrite = {
            ...of,
            trace_id: chosen?.trace_id ?? 't',
            body: JSON.stringify(buildDecisionLog({ cognition: { intent: `rewritten ${pick}` } })),
            rewritten_by: 'ada',
          };
        return { name, args: [write] };
      }
      case 'appendAlert':
        return {
          name,
          args: [tenant_id, buildAlertEvent({ session_id, occurrence_count: pick, at_ms: nowMs + faulty })],
        };
      case 'appendViolation': {
        const timestamp = draft.isFaulty ? 'some day' : new Date(nowMs).toISOString();
        return { name, args: [tenant_id, buildViolationEvent({ timestamp, agent_id: session_id })] };
      }
      case 'saveAgentKey':
        return { name, args: [{ ...KEY, tenant_id, key_id: session_id, name: `${pick}` }, ...audit] };
      case 'saveOperator':
        return {
          name,
          args: [
            { ...KEY, token_id: session_id, name: `${pick}`, role: 'admin', tenant_ids: [tenant_id] },
            ...audit,
          ],
        };
      case 'saveLogin': {
        const login = { cookie_hash: session_id, token_id: `${pick}`, operator_id: 'ada', tenant_id };
        return { name, args: [{ ...login, expires_at_ms: nowMs + pick * 50 }] };
      }
      case 'saveSettings':
        return {
          name,
          args: [
            new Map<string, unknown>([
              [session_id, draft.setting],
              ['b', pick % 2 ? pick : undefined],
            ]),
            ...audit,
          ],
        };
      case 'reserveSequences':
        return { name, args: [1 + pick, 1 + (draft.isFaulty ? pick * 50 : 0)] };
      default:
        return { name, args: [session_id] };
    }
  }

  protected charsOf(listing: string) {
    return CHARS[listing] ?? ([EVERYTHING, () => 0] as const);
  }

  /** Neither of live numbers. */
  protected override isUnseen(write: Write): boolean {
    return write.name === 'reserveSequences' || super.isUnseen(write);
  }

  protected override isBeyond(item: unknown, last: unknown, order?: 'asc' | 'desc'): boolean {
    const isSession = (row: unknown): row is SessionView => 'last_seen_ms' in (row as object);
    return isSession(item) && isSession(last)
      ? laterFirst(last, item) < 0
      : super.isBeyond(item, last, order);
  }

  protected content(): Promise<Content> {
    return contentOf(this.store);
  }

  protected referenceContent(): Content {
    return referenceContent(this.reference);
  }

  protected async lookAround(): Promise<void> {
    const { allSteps } = this.reference;
    const middleSeq = allSteps[allSteps.length >> 1]?.seq ?? 0;
    for (const tenant of TENANTS) {
      for (const session of SESSIONS) {
        await this.compare('lastTuples', tenant, session, 3, 'name');
        await this.compare('heldSteps', tenant, session, 2);
        await this.compare('heldStep', tenant, session, 't');
        await this.compare('session', tenant, session);
        await this.compare('alertGroup', tenant, session);
      }
      for (const session_id of SESSIONS)
        for (const order of ['asc', 'desc'] as const)
          await this.readThrough({ name: 'steps', query: { tenant_id: tenant, session_id, order } });
      for (const trace of TRACES)
        for (const hash of [undefined, ...HASHES]) await this.compare('stepByTrace', tenant, trace, hash);
      await this.compare('verifyAudit', tenant);
    }
    for (const limit of [1, 4]) {
      await this.compare('stepsAfter', middleSeq, limit);
      await this.compare('unfoldedReleases', middleSeq, limit);
      await this.compare('recentStepKeys', limit);
      await this.compare('controls', limit);
      await this.#compareRecent(limit);
    }
  }

  /** Of sessions seen at the same time any may be the one. */
  async #compareRecent(limit: number): Promise<void> {
    const { rows, checkpointSeq } = await this.store.recentSessions(limit);
    const expected = this.reference.recentSessions(limit);
    const timesOf = (sessions: typeof rows) => sessions.map(({ view }) => view.last_seen_ms);
    expect(timesOf(rows)).toEqual(timesOf(expected.rows));
    expect(checkpointSeq).toBe(expected.checkpointSeq);
    expect(new Set(rows.map(({ tenant_id, view }) => `${tenant_id} ${view.session_id}`)).size).toBe(
      rows.length,
    );
    for (const { tenant_id, view } of rows)
      expect(view).toEqual(this.reference.session(tenant_id, view.session_id));
  }

  protected async retain({ agoMs, bytesMax }: StoreAct<Draft> & { do: 'retain' }): Promise<void> {
    const beforeMs = bytesMax === null ? this.clock.nowMs() - agoMs : null;
    const reference = this.reference;
    const before = reference.counts();
    const endMs = beforeMs ?? reference.endMs;
    const answer = await this.enforceRetention({ beforeMs, bytesMax });
    if (beforeMs !== null && answer !== null) {
      expect(answer).toEqual({ deleted_count: reference.deleteOlder(beforeMs), is_over_bytes: false });
      reference.deleteAlertGroups(beforeMs);
    } else {
      // The oldest of each kind; how many of each, the size decides.
      const { steps, alerts, violations } = await this.content();
      const deletedCount = reference.deleteFirst(
        before.steps - steps.length,
        before.alerts - alerts.length,
        before.violations - violations.length,
      );
      if (answer !== null) expect(answer.deleted_count).toBe(deletedCount);
      if (answer !== null && bytesMax === 0) {
        expect(answer.is_over_bytes).toBe(true);
        expect(reference.deleteFirst(EVERYTHING, EVERYTHING, EVERYTHING)).toBe(0);
      }
      await this.#letGroupsGo(endMs);
    }
    await this.#letSessionsGo(endMs, beforeMs !== null && answer !== null);
  }

  async #letGroupsGo(endMs: number): Promise<void> {
    for (const tenant of TENANTS)
      for (const session of SESSIONS) {
        const group = this.reference.alertGroup(tenant, session);
        if (group === null || group.last_at_ms >= endMs) continue;
        if ((await this.store.alertGroup(tenant, session)) === null)
          this.reference.deleteAlertGroup(tenant, session);
      }
  }

  /** A step that is held may keep those a while whose steps came after it. */
  async #letSessionsGo(beforeMs: number, mustGo: boolean): Promise<void> {
    const { hasGaps } = this.reference;
    for (const session of this.reference.emptySessions(beforeMs)) {
      const isGone = (await this.store.session(session.tenant_id, session.view.session_id)) === null;
      if (isGone) this.reference.deleteSession(session);
      else expect(mustGo && !hasGaps, `${session.view.session_id} stays without a step`).toBe(false);
    }
  }
}

/** All that is stored, as far as nobody has to know where to look for it. */
async function contentOf(store: SqliteStore) {
  const recent = await store.recentSessions(ALL);
  const ofTenants = async <T>(read: (query: PageQuery & { tenant_id: string }) => Promise<Page<T>>) => {
    const all: T[][] = [];
    for (const tenant_id of TENANTS) all.push(await everyItem((query) => read({ ...query, tenant_id })));
    return all.flat();
  };
  return {
    checkpointSeq: recent.checkpointSeq,
    sessionCount: recent.rows.length,
    steps: await everyStep((seq) => store.stepsAfter(seq, ALL)),
    unfolded: await everyStep((seq) => store.unfoldedReleases(seq, ALL)),
    heldCounts: sorted(await store.heldCounts()),
    sessions: await ofTenants((query) => store.sessions(query)),
    controls: await store.controls(ALL),
    controlOfEach: await Promise.all(EVERY_SESSION.map((names) => store.control(...names))),
    alerts: await ofTenants((query) => store.alerts(query)),
    violations: await ofTenants((query) => store.violations(query)),
    audit: await ofTenants((query) => store.audit(query)),
    keys: await store.agentKeys(),
    operators: await store.operators(),
    logins: await store.logins(),
    settings: await store.settings(),
  };
}
type Content = Awaited<ReturnType<typeof contentOf>>;

function referenceContent(reference: StoreReference): Content {
  const ofTenants = <T>(read: (query: { tenant_id: string }) => T[]) =>
    TENANTS.flatMap((tenant_id) => read({ tenant_id }));
  return {
    checkpointSeq: reference.recentSessions(ALL).checkpointSeq,
    sessionCount: reference.allSessions.size,
    steps: reference.allSteps.map(toStored),
    unfolded: reference.unfolded(),
    heldCounts: sorted(reference.heldCounts()),
    sessions: ofTenants((query) => reference.sessions(query)),
    controls: reference.controls(ALL),
    controlOfEach: EVERY_SESSION.map((names) => reference.control(...names)),
    alerts: ofTenants((query) => reference.alerts(query)),
    violations: ofTenants((query) => reference.violations(query)),
    audit: ofTenants((query) => reference.audit(query)),
    keys: reference.agentKeys(),
    operators: reference.operators(),
    logins: reference.logins(),
    settings: reference.settings(),
  };
}

async function everyStep(after: (seq: number) => Promise<StoredStep[]>): Promise<StoredStep[]> {
  const steps: StoredStep[] = [];
  for (;;) {
    const more = await after(steps.at(-1)?.seq ?? 0);
    if (more.length === 0) return steps;
    steps.push(...more);
  }
}

const sorted = <T>(rows: T[]) =>
  rows.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));

const DIRECTIVE = {
  directive_id: 'd',
  seq: 1,
  type: 'inject' as const,
  issued_at_ms: 1,
  operator_id: 'ada',
  prompt: 'think again',
};
const KEY = {
  prefix: 'p',
  created_at_ms: 1,
  created_by: 'ada',
  last_used_at_ms: null,
  revoked_at_ms: null,
  secret_hash: 'x',
};

const stepOf = ({ chars, status, ago, isFaulty, ...columns }: StepDraft, nowMs: number): StepRow =>
  buildStepRow({
    ...columns,
    received_at_ms: nowMs - ago + (isFaulty ? 0.5 : 0),
    body: JSON.stringify(
      buildDecisionLog({
        meta: { trace_id: columns.trace_id, session_id: columns.session_id },
        cognition: { intent: `as ${columns.agent_id} ${chars}`, entropy_score: 0.25 },
        action: { status, tool_output_summary: '猫'.repeat(chars) },
      }),
    ),
  });

const auditOf = ({ tenant_id, session_id, isOfSession, chars }: Draft['draft']): AuditDraft =>
  buildAuditDraft({
    tenant_id,
    session_id: isOfSession ? session_id : null,
    detail: { prompt: '\u0000é'.repeat(chars) },
  });

const tenant = fc.constantFrom(...TENANTS);
const session = fc.constantFrom(...SESSIONS);
const chars = fc.constantFrom(0, 0, 0, 10, 400, 1_500, 5_000);
const step = fc.record({
  tenant_id: tenant,
  session_id: session,
  agent_id: fc.constantFrom(...AGENTS),
  trace_id: fc.constantFrom(...TRACES),
  body_hash: fc.constantFrom(...HASHES),
  held: fc.constantFrom(0, 0, 1),
  entropy_score: fc.constantFrom(0, 0.5, 1),
  entropy_severity: fc.constantFrom(...SEVERITIES),
  window_size: fc.constantFrom(0, 5),
  status: fc.constantFrom('success' as const, 'failure' as const),
  chars,
  ago: fc.constantFrom(0, 0, 5, 50_000),
  isFaulty: rarely,
});
type StepDraft = typeof step extends fc.Arbitrary<infer One> ? One : never;

const view = fc.record({
  session_id: fc.oneof(
    session,
    fc.nat(15).map((n) => `S-${n}`),
  ),
  agent_id: fc.constantFrom(...AGENTS),
  last_intent: fc.constantFrom('search', 'Höhe MESSEN', '100%'),
  last_tool: fc.constantFrom('SQL_query', ''),
  severity: fc.constantFrom(...SEVERITIES),
  ended: fc.boolean(),
  last_seen_ms: fc.constantFrom(0, 0, 1, 2, 30_000),
});

const NAMES: Method[] = [
  ...Array<Method>(8).fill('appendSteps'),
  ...Array<Method>(4).fill('commitControl'),
  'saveSessions',
  'saveSessions',
  'appendAlert',
  'appendAlert',
  'appendViolation',
  'saveAgentKey',
  'deleteAgentKey',
  'saveOperator',
  'deleteOperator',
  'saveLogin',
  'deleteLogin',
  'saveSettings',
  'reserveSequences',
];
const draft = fc.record({
  name: fc.constantFrom(...NAMES),
  pick: fc.nat(30),
  draft: fc.record({
    tenant_id: tenant,
    session_id: session,
    steps: fc.array(step, { maxLength: 6 }),
    views: fc.array(view, { maxLength: 4 }),
    state: fc.option(fc.constantFrom(...CONTROL_STATES)),
    setting: fc.jsonValue({ maxDepth: 2 }),
    chars: fc.constantFrom(0, 3, 300, 600),
    isFaulty: rarely,
    isAudited: fc.boolean(),
    isOfSession: fc.boolean(),
    isOfStep: fc.boolean(),
    isReleased: fc.boolean(),
    isRewritten: rarely,
  }),
});
type Draft = typeof draft extends fc.Arbitrary<infer One> ? One : never;

const walk: fc.Arbitrary<Walk> = fc.oneof(
  fc.record({
    name: fc.constant('steps' as const),
    query: fc.record({ tenant_id: tenant, session_id: session, order: fc.constantFrom('asc', 'desc') }),
  }),
  fc.record({
    name: fc.constant('sessions' as const),
    query: fc.record({
      tenant_id: tenant,
      q: optional(fc.constantFrom('höhe', 'S', 'PLAN', '%', '_', '😀', 'ﬀ', '\u0000', '"', '*', '')),
      severity: optional(fc.constantFrom(...SEVERITIES)),
      agent_id: optional(fc.constantFrom(...AGENTS)),
      ended: optional(fc.boolean()),
    }),
  }),
  fc.record({
    name: fc.constantFrom('alerts' as const, 'audit' as const),
    query: fc.record({ tenant_id: tenant, session_id: optional(session) }),
  }),
  fc.record({
    name: fc.constant('audit' as const),
    query: fc.record({ tenant_id: tenant, order: fc.constantFrom('asc', 'desc') }),
  }),
  fc.record({ name: fc.constant('violations' as const), query: fc.record({ tenant_id: tenant }) }),
);

it('the store answers as plain lists would, whatever is written and read, grows old, fills the disk, ends or dies', async () => {
  await expectPlainLists(Run, draft, walk, [-20_000, -1, 1, 1_000, 2_000, 60_000]);
}, 3_600_000);
