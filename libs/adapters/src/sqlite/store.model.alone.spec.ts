/**
 * Whatever is written, in whatever order, and whenever the clock is set, rows grow old, the disk fills, or the process ends or dies:
 * the store answers as plain lists would. What it was acknowledged is there, what was refused or not finished left nothing, and a
 * listing that is read while others write gives each row once. Bounds are small, so that their seams are crossed in every run.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
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
  FakeClock,
  modelRuns,
  turn,
} from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { SqliteStore } from './sqlite-store.js';
import { laterFirst, Refused, StoreReference, toStored, within } from './store-reference.fixture.js';

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
const ALL = 500;
const EVERYTHING = 1e9;

type Method = Exclude<keyof SqliteStore & keyof StoreReference, 'steps'>;
/** A write as it is issued; how it is answered says the reference's method of the same name. */
interface Write {
  name: Method;
  args: unknown[];
}
type Callable = Record<string, (...args: unknown[]) => unknown>;

/** A listing that is read page by page, with what else happens between two of them. */
interface Walk {
  name: 'steps' | 'sessions' | 'alerts' | 'violations' | 'audit';
  query: { tenant_id: string; order?: 'asc' | 'desc' };
  cursor?: string;
  last?: { seq: number } | SessionView;
}
const CHARS: Record<Walk['name'], readonly [number, (item: unknown) => number]> = {
  steps: [BOUNDS.stepsReadCharsMax, (step: unknown) => (step as StoredStep).body_chars],
  audit: [AUDIT_READ_CHARS_MAX, (entry: unknown) => JSON.stringify((entry as AuditEntry).detail).length],
  sessions: [EVERYTHING, () => 0],
  alerts: [EVERYTHING, () => 0],
  violations: [EVERYTHING, () => 0],
};

class Run {
  readonly trail: string[] = [];
  readonly #folder: string;
  readonly #clock = new FakeClock(100_000);
  readonly #pageCountMax: number | null;
  #fileCount = 0;
  #serial = 0;
  #path: string;
  #store: SqliteStore;
  #reference = new StoreReference(BOUNDS, () => this.#clock.nowMs());
  #walks: Walk[] = [];

  constructor(folder: string, pageCountMax: number | null) {
    this.#folder = mkdtempSync(join(folder, 'run-'));
    this.#path = this.#newPath();
    this.#pageCountMax = pageCountMax;
    this.#store = this.#storeAt(this.#path);
  }

  async begin(): Promise<void> {
    await this.#store.open();
  }

  async finish(): Promise<void> {
    await this.#look();
    while (this.#walks.length > 0) await this.#turnPage(0, 2);
    await this.#reopen();
  }

  async end(): Promise<void> {
    await this.#store.close();
    rmSync(this.#folder, { recursive: true });
  }

  async apply(act: Act): Promise<void> {
    this.trail.push(JSON.stringify(act));
    if (act.do === 'write') await this.#write(act.drafts.map((draft) => this.#writeOf(draft)));
    if (act.do === 'clock') this.#clock.advance(act.byMs);
    if (act.do === 'walk' && this.#walks.length < 4) this.#walks.push({ ...act.walk });
    if (act.do === 'turn') await this.#turnPage(act.nth, act.limit);
    if (act.do === 'look') await this.#look();
    if (act.do === 'retain') await this.#retain(act);
    if (act.do === 'reopen') await this.#reopen();
    if (act.do === 'die') await this.#die(act);
  }

  async #write(writes: Write[]): Promise<void> {
    const answers = await Promise.allSettled(writes.map((write) => this.#issue(write)));
    for (const [index, write] of writes.entries()) {
      const answer = answers[index] as PromiseSettledResult<unknown>;
      if (answer.status === 'rejected' && this.#isFull(answer.reason)) continue;
      const expected = answerOf(this.#reference, write);
      if (expected instanceof Refused) expect(answer, write.name).toMatchObject({ status: 'rejected' });
      else expect(answer, write.name).toEqual({ status: 'fulfilled', value: expected });
    }
  }

  async #issue({ name, args }: Write): Promise<unknown> {
    return this.#read(name, ...args);
  }

  #isFull(error: unknown): boolean {
    return this.#pageCountMax !== null && (error as { code?: string }).code === 'store_full';
  }

  /** What names rows that are there is chosen now. */
  #writeOf({ name, draft, pick }: Draft): Write {
    const { tenant_id, session_id } = draft;
    this.#serial += 1;
    const nowMs = this.#clock.nowMs();
    const faulty = draft.isFaulty ? 0.5 : 0;
    const audit = draft.isAudited ? [auditOf(draft)] : [];
    const chosen = this.#reference.allSteps[pick % (this.#reference.allSteps.length + 1)];
    const seqs = this.#reference.unfoldedReleases(0, 1 + (pick % 3)).map(({ seq }) => seq);
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

  /** One page: the rows next to the last one seen, as they are now. */
  async #turnPage(nth: number, limit: number): Promise<void> {
    const walk = this.#walks[nth % (this.#walks.length || 1)];
    if (walk === undefined) return;
    const { name, query, cursor, last } = walk;
    const page = (await this.#read(name, { ...query, limit, cursor })) as Page<never>;
    const listed = (this.#reference as unknown as Callable)[name]?.(query) as unknown[];
    const beyond = listed.filter((item) => isBeyond(item, last, query.order));
    const expected = within(beyond, limit, ...CHARS[name]);
    expectSame(page.items, expected, () => name);
    expect(page.next_cursor === null, `the last page of ${name}`).toBe(expected.length === beyond.length);
    walk.last = page.items.at(-1) ?? last;
    if (page.next_cursor === null) this.#walks = this.#walks.filter((each) => each !== walk);
    else walk.cursor = page.next_cursor;
  }

  async #readThrough(query: Walk['query'] & { session_id: string }): Promise<void> {
    const others = this.#walks;
    this.#walks = [{ name: 'steps', query }];
    while (this.#walks.length > 0) await this.#turnPage(0, ALL);
    this.#walks = others;
  }

  #read(name: string, ...args: unknown[]): unknown {
    return (this.#store as unknown as Callable)[name]?.(...args);
  }

  async #compare(name: keyof StoreReference & keyof SqliteStore, ...args: unknown[]): Promise<void> {
    const expected = (this.#reference as unknown as Callable)[name]?.(...args);
    expectSame(await this.#read(name, ...args), expected, () => `${name} ${JSON.stringify(args)}`);
  }

  async #look(): Promise<void> {
    expectSame(await contentOf(this.#store), referenceContent(this.#reference), () => 'what is stored');
    const { allSteps } = this.#reference;
    const middleSeq = allSteps[allSteps.length >> 1]?.seq ?? 0;
    for (const tenant of TENANTS) {
      for (const session of SESSIONS) {
        await this.#compare('lastTuples', tenant, session, 3, 'name');
        await this.#compare('heldSteps', tenant, session, 2);
        await this.#compare('heldStep', tenant, session, 't');
        await this.#compare('session', tenant, session);
        await this.#compare('alertGroup', tenant, session);
      }
      for (const session_id of SESSIONS)
        for (const order of ['asc', 'desc'] as const)
          await this.#readThrough({ tenant_id: tenant, session_id, order });
      for (const trace of TRACES)
        for (const hash of [undefined, ...HASHES]) await this.#compare('stepByTrace', tenant, trace, hash);
      await this.#compare('verifyAudit', tenant);
    }
    for (const limit of [1, 4]) {
      await this.#compare('stepsAfter', middleSeq, limit);
      await this.#compare('unfoldedReleases', middleSeq, limit);
      await this.#compare('recentStepKeys', limit);
      await this.#compare('controls', limit);
      await this.#compareRecent(limit);
    }
  }

  /** Of sessions seen at the same time any may be the one. */
  async #compareRecent(limit: number): Promise<void> {
    const { rows, checkpointSeq } = await this.#store.recentSessions(limit);
    const expected = this.#reference.recentSessions(limit);
    const timesOf = (sessions: typeof rows) => sessions.map(({ view }) => view.last_seen_ms);
    expect(timesOf(rows)).toEqual(timesOf(expected.rows));
    expect(checkpointSeq).toBe(expected.checkpointSeq);
    expect(new Set(rows.map(({ tenant_id, view }) => `${tenant_id} ${view.session_id}`)).size).toBe(
      rows.length,
    );
    for (const { tenant_id, view } of rows)
      expect(view).toEqual(this.#reference.session(tenant_id, view.session_id));
  }

  async #retain({ agoMs, bytesMax }: Act & { do: 'retain' }): Promise<void> {
    const beforeMs = bytesMax === null ? this.#clock.nowMs() - agoMs : null;
    const reference = this.#reference;
    const before = reference.counts();
    const endMs = beforeMs ?? reference.endMs;
    const answer = await this.#store.enforceRetention({ beforeMs, bytesMax }).catch((error) => {
      if (!this.#isFull(error)) throw error;
      return null;
    });
    if (beforeMs !== null && answer !== null) {
      expect(answer).toEqual({ deleted_count: reference.deleteOlder(beforeMs), is_over_bytes: false });
      reference.deleteAlertGroups(beforeMs);
    } else {
      // The oldest of each kind; how many of each, the size decides.
      const { steps, alerts, violations } = await contentOf(this.#store);
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
        const group = this.#reference.alertGroup(tenant, session);
        if (group === null || group.last_at_ms >= endMs) continue;
        if ((await this.#store.alertGroup(tenant, session)) === null)
          this.#reference.deleteAlertGroup(tenant, session);
      }
  }

  /** A step that is held may keep those a while whose steps came after it. */
  async #letSessionsGo(beforeMs: number, mustGo: boolean): Promise<void> {
    const { hasGaps } = this.#reference;
    for (const session of this.#reference.emptySessions(beforeMs)) {
      const isGone = (await this.#store.session(session.tenant_id, session.view.session_id)) === null;
      if (isGone) this.#reference.deleteSession(session);
      else expect(mustGo && !hasGaps, `${session.view.session_id} stays without a step`).toBe(false);
    }
  }

  async #reopen(): Promise<void> {
    await this.#store.close();
    await this.#openAgain();
  }

  async #openAgain(): Promise<void> {
    this.#store = this.#storeAt(this.#path);
    await this.#store.open();
    await this.#look();
  }

  /** At some byte of what it writes: of the writes under way some are kept, the first ones, among them all that it acknowledged. */
  async #die({ drafts, turns, share }: Act & { do: 'die' }): Promise<void> {
    // The content tells neither of live numbers, nor of a call without rows, which is done at once.
    const issued = drafts
      .map((draft) => this.#writeOf(draft))
      .filter(({ name, args }) => name !== 'reserveSequences' && !isDeepStrictEqual(args, [[]]));
    const acknowledged = new Set<Write>();
    const answers = issued.map((write) => this.#issue(write).then(() => acknowledged.add(write)));
    for (const answer of answers) answer.catch(() => {});
    for (let n = 0; n < turns; n += 1) await turn();
    const [lastThen] = issued.filter((write) => acknowledged.has(write)).slice(-1);
    const lengthThen = statSync(`${this.#path}-wal`).size;
    const results = await Promise.allSettled(answers);
    const writes = issued.filter((_, index) => {
      const result = results[index] as PromiseSettledResult<unknown>;
      return result.status === 'fulfilled' || !this.#isFull(result.reason);
    });
    const path = this.#newPath();
    copyFileSync(this.#path, path);
    copyFileSync(`${this.#path}-wal`, `${path}-wal`);
    const { size: length } = statSync(`${path}-wal`);
    truncateSync(`${path}-wal`, lengthThen + Math.floor((length - lengthThen) * share));
    await this.#store.close();
    this.#path = path;
    this.#store = this.#storeAt(path);
    await this.#store.open();
    const content = await contentOf(this.#store);
    const acknowledgedCount = lastThen === undefined ? 0 : writes.indexOf(lastThen) + 1;
    this.trail.push(
      `    acknowledged ${acknowledgedCount} of ${writes.length}, log of ${lengthThen} to ${length}`,
    );
    for (const [index, write] of writes.entries()) {
      if (index >= acknowledgedCount && isDeepStrictEqual(content, referenceContent(this.#reference))) break;
      answerOf(this.#reference, write);
    }
    await this.#look();
  }

  #storeAt(path: string): SqliteStore {
    const { clock, pageCountMax } = { clock: this.#clock, pageCountMax: this.#pageCountMax };
    return new SqliteStore({
      path,
      clock,
      workerUrl: null,
      durability: 'process',
      freeBytesMin: 0,
      pageCountMax,
    });
  }

  #newPath(): string {
    this.#fileCount += 1;
    return join(this.#folder, `${this.#fileCount}.db`);
  }
}

/** Most are, and `expect` takes long to say so. */
function expectSame(actual: unknown, expected: unknown, what: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, what()).toEqual(expected);
}

function answerOf(reference: StoreReference, { name, args }: Write): unknown {
  try {
    return (reference as unknown as Callable)[name]?.(...args);
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

function isBeyond(item: unknown, last: Walk['last'], order: 'asc' | 'desc' = 'desc'): boolean {
  if (last === undefined) return true;
  if ('last_seen_ms' in last) return laterFirst(last, item as SessionView) < 0;
  const { seq } = item as { seq: number };
  return order === 'asc' ? seq > last.seq : seq < last.seq;
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

async function everyItem<T>(read: (query: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: ALL, cursor });
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return items;
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
const rarely = fc.integer({ min: 0, max: 11 }).map((n) => n === 7);
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
const drafts = fc.array(draft, { minLength: 1, maxLength: 5 });

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
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

const act = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('write' as const), drafts }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      byMs: fc.constantFrom(-20_000, -1, 1, 1_000, 2_000, 60_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('walk' as const), walk }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('turn' as const),
      nth: fc.nat(3),
      limit: fc.constantFrom(1, 2, 5, ALL),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('retain' as const),
      agoMs: fc.constantFrom(-100_000, 0, 1, 1_000, 40_000, 100_000),
      bytesMax: fc.constantFrom(null, null, null, 0, 350_000, 1_000_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('die' as const),
      drafts,
      turns: fc.nat(4),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

it('the store answers as plain lists would, whatever is written and read, grows old, fills the disk, ends or dies', async () => {
  const folder = temporaryFolder();
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.integer({ min: 90, max: 160 }), { freq: 6 }),
      fc.array(act, { maxLength: 60, size: 'max' }),
      async (pageCountMax, acts) => {
        const run = new Run(folder, pageCountMax);
        try {
          await run.begin();
          for (const one of acts) await run.apply(one);
          await run.finish();
        } catch (error) {
          (error as Error).message += `\n${run.trail.join('\n')}`;
          throw error;
        } finally {
          await run.end();
        }
      },
    ),
    modelRuns(5),
  );
}, 3_600_000);
