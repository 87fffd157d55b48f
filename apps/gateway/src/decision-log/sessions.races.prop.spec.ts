/**
 * Steps of a few sessions at once with their eviction from memory, saves, looks and semantic loops, in any order in which the store
 * answers. Whatever the order: each session's row is the fold of its stored steps, what is shown live is in their order, once, and
 * the disk has what memory has.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import {
  type DecisionLog,
  type DecisionStore,
  type EntropyToolKey,
  ObservatoryError,
  RUNTIME_CONFIG_DEFAULTS,
  type SemanticLoopEvent,
  type SessionKey,
  type SessionView,
  type StepCommit,
  type StepRow,
  type StoredStep,
  sessionKey,
  splitSessionKey,
  TOPICS,
} from '#contracts';
import { initialControl } from '#domain/decision-log';
import { tupleOf } from '#domain/entropy';
import { EntropyTracker } from '#domain/entropy/writer';
import {
  buildDecisionLog,
  buildSessionView,
  checkRaces,
  FakeClock,
  letAllCome,
  RACES_MS,
  RaceOfActors,
} from '#testing';
import type { ControlDesk } from '../hitl/control-desk.js';
import { IngestEvents } from './ingest-events.js';
import { SchemaInterceptor } from './schema-interceptor.js';
import { SessionRegistry } from './session-registry.js';
import type { StatsFeed } from './stats-feed.js';
import { StepMemory } from './step-memory.js';
import { StepPublisher } from './step-publisher.js';
import type { TopologyFeed } from './topology-feed.js';

const KEYS = [
  sessionKey('one', 's'),
  sessionKey('two', 's'),
  sessionKey('one', 't'),
  sessionKey('one', 'u'),
  sessionKey('one', 'v'),
  sessionKey('one', 'w'),
] as const;

type Step = { session: number; count: number };
type Acts = {
  senders: Step[][];
  others: { do: 'save' | 'find' | 'loop'; session: number }[];
  /** More than there are senders: none leaves memory while its step is on the way, however many others do. */
  sessionCountMax: number;
  windowCountMax: number;
  /** Of the saves of rows, those that the store refuses. */
  refused: readonly number[];
  commits: number[];
  together: number[];
};

/** Commits in order, when the scheduler says; what it reads is as it was at some moment in between. */
class RaceStore {
  readonly steps: (StepRow & { seq: number })[] = [];
  readonly rows = new Map<SessionKey, SessionView>();
  checkpointSeq = 0;
  readonly #queue: (() => void)[] = [];
  #writeCount = 0;
  #saveCount = 0;

  constructor(readonly race: Race) {}

  appendSteps(rows: StepRow[]): Promise<StepCommit[]> {
    return this.#write('steps', () => {
      return rows.map((row) => {
        this.race.onTheirWay.splice(this.race.onTheirWay.indexOf(keyOf(row)), 1);
        const seq = this.steps.push({ ...row, seq: this.steps.length + 1 });
        return { seq, duplicate: false };
      });
    });
  }
  saveSessions(saved: { tenant_id: string; view: SessionView }[], checkpointSeq: number): Promise<void> {
    const copies = structuredClone(saved);
    this.#saveCount += 1;
    const isRefused = !this.race.isFree && this.race.acts.refused.includes(this.#saveCount);
    return this.#write(isRefused ? 'refusal of rows' : 'rows', () => {
      if (isRefused) throw new ObservatoryError('store_busy');
      for (const { tenant_id, view } of copies) this.rows.set(sessionKey(tenant_id, view.session_id), view);
      this.checkpointSeq = checkpointSeq;
    });
  }
  session(tenantId: string, sessionId: string): Promise<SessionView | null> {
    return this.#read(() => structuredClone(this.rows.get(sessionKey(tenantId, sessionId)) ?? null));
  }
  async recentSessions(limit: number) {
    const rows = [...this.rows].slice(-limit).map(([key, view]) => ({
      tenant_id: splitSessionKey(key).tenantId,
      view: structuredClone(view),
    }));
    return { checkpointSeq: this.checkpointSeq, rows };
  }
  async stepsAfter(seq: number, limit: number): Promise<StoredStep[]> {
    return this.steps
      .filter((step) => step.seq > seq)
      .slice(0, limit)
      .map(asStored);
  }
  async unfoldedReleases(): Promise<StoredStep[]> {
    return [];
  }
  lastTuples(tenantId: string, sessionId: string, count: number, toolKey: EntropyToolKey) {
    return this.#read(() => {
      const last = this.steps
        .filter((row) => row.tenant_id === tenantId && row.session_id === sessionId)
        .slice(-count);
      const agent_id = last.at(-1)?.agent_id;
      if (agent_id === undefined) return null;
      return { agent_id, tuples: last.map(({ body }) => tupleOf(JSON.parse(body), toolKey)) };
    });
  }

  commit(count = Number.POSITIVE_INFINITY): void {
    for (const write of this.#queue.splice(0, count)) write();
  }

  #write<Result>(what: string, write: () => Result): Promise<Result> {
    const { commits } = this.race.acts;
    this.#writeCount += 1;
    const count = commits[this.#writeCount % commits.length];
    const written = new Promise<Result>((resolve, reject) => {
      this.#queue.push(() => {
        try {
          resolve(write());
        } catch (error) {
          reject(error);
        }
      });
    });
    if (this.race.isFree) this.commit();
    else void this.race.port(what).then(() => this.commit(count));
    return written;
  }

  async #read<Value>(read: () => Value): Promise<Value> {
    await this.race.port('look');
    const value = read();
    await this.race.port('seen');
    return value;
  }
}

const keyOf = ({ tenant_id, session_id }: StepRow): SessionKey => sessionKey(tenant_id, session_id);

const asStored = ({ body, held, ...row }: StepRow & { seq: number }): StoredStep => ({
  ...row,
  held: held === 1,
  rewritten_by: null,
  log: JSON.parse(body),
  body_chars: body.length,
});

class Race extends RaceOfActors {
  readonly store = new RaceStore(this);
  readonly clock = new FakeClock();
  readonly registry: SessionRegistry;
  readonly #tracker: EntropyTracker;
  readonly #interceptor: SchemaInterceptor;
  readonly #published: { tenantId: string; step: StoredStep }[] = [];
  readonly #windows = new Map<string, number>();
  /** Of each step that is scored and not stored: others may be scored between the two, and push its window out. */
  readonly onTheirWay: SessionKey[] = [];
  /** In this turn, in which a step that had found its window there may be scored without. */
  readonly #justOut = new Set<SessionKey>();
  /** Whose window was pushed out while steps of it were on their way: what is read for the next one has not all of them. */
  readonly #lacking = new Set<SessionKey>();
  #serial = 0;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    const { clock } = this;
    const store = this.store as unknown as DecisionStore;
    const config = { get: (key: keyof typeof RUNTIME_CONFIG_DEFAULTS) => RUNTIME_CONFIG_DEFAULTS[key] };
    this.registry = this.#newRegistry(acts.sessionCountMax);
    this.#tracker = new EntropyTracker({
      clock,
      config,
      warn: () => {},
      publisher: { publishAlert: () => {}, publishNodeState: () => {} },
      sessionCountMax: acts.windowCountMax,
      onEvicted: (key) => {
        if (this.onTheirWay.includes(key)) this.#lacking.add(key);
        this.#justOut.add(key);
        setImmediate(() => this.#justOut.delete(key));
      },
    });
    const score = this.#tracker.recordAndScore.bind(this.#tracker);
    this.#tracker.recordAndScore = (window, tuple) => {
      const key = typeof window === 'string' ? window : this.#tracker.keyOf(window);
      if (this.#justOut.has(key)) this.#lacking.add(key);
      this.onTheirWay.push(key);
      return score(window, tuple);
    };
    const live = {
      publish: (tenantId: string, topic: string, step: unknown) => {
        if (topic === TOPICS.messages) this.#published.push({ tenantId, step: step as StoredStep });
      },
      isWatched: () => true,
      isSessionWatched: () => false,
    };
    const nothing = { countLog: () => {}, recordStep: () => {}, endSession: () => {} };
    const publisher = new StepPublisher(
      this.registry,
      nothing as unknown as TopologyFeed,
      live as never,
      nothing as unknown as StatsFeed,
    );
    const gauges = { liveSessions: () => 0, windows: () => 0, storeQueue: () => 0 };
    this.#interceptor = new SchemaInterceptor({
      clock,
      config,
      tracker: this.#tracker,
      memory: new StepMemory(100),
      store,
      desk: {
        recall: () => null,
        isHolding: () => false,
        noteStep: () => {},
        answerFor: () => ({ state: 'active', directives: [] }),
      } as unknown as ControlDesk,
      publisher,
      events: new IngestEvents(clock, pino({ level: 'silent' }), new Registry(), gauges),
      rows: this.registry,
    });
  }

  #newRegistry(sessionCountMax: number): SessionRegistry {
    return new SessionRegistry({
      clock: this.clock,
      store: this.store as unknown as DecisionStore,
      live: { publish: () => {}, isWatched: () => true },
      sessionCountMax,
      controlOf: initialControl,
      heldKeys: () => [],
      onStoreFailed: () => {},
    });
  }

  /** As after a start that found more sessions than memory has room for. */
  async begin(): Promise<void> {
    for (let nth = 0; nth < this.acts.sessionCountMax; nth += 1) {
      const view = buildSessionView({ session_id: `old-${nth}` });
      this.store.rows.set(sessionKey('one', view.session_id), view);
    }
    await this.registry.recover();
  }

  async run(): Promise<void> {
    for (const [nth, steps] of this.acts.senders.entries())
      void this.actor(`sender ${nth}`, steps, (act) => this.#send(act));
    void this.actor('other', this.acts.others, (act) => this.#other(act));
    await letAllCome(this.scheduler, this.acts.together);
  }

  async #send({ session, count }: Step): Promise<void> {
    const { tenantId, sessionId } = splitSessionKey(KEYS[session] as SessionKey);
    const logs = Array.from({ length: count }, (): DecisionLog => {
      this.#serial += 1;
      const log = buildDecisionLog({ meta: { trace_id: `t-${this.#serial}`, session_id: sessionId } });
      return { ...log, cognition: { ...log.cognition, intent: `intent ${this.#serial % 3}` } };
    });
    const answers = await this.#interceptor.intercept(
      tenantId,
      logs.map((value) => ({ value, text: null })),
    );
    for (const answer of answers) {
      if (answer.status !== 'accepted') throw new Error(JSON.stringify(answer));
      this.#windows.set(answer.trace_id, answer.entropy.window_size);
    }
    this.trail.push(`answered ${tenantId} ${sessionId} ${logs.map(({ meta }) => meta.trace_id).join()}`);
  }

  async #other({ do: what, session }: Acts['others'][number]): Promise<void> {
    // No more of them at once than memory has room for beside the steps on their way.
    const key = KEYS[what === 'loop' ? 4 + (session % 2) : session] as SessionKey;
    const { sessionId } = splitSessionKey(key);
    if (what === 'save') await this.registry.save();
    else if (what === 'find') await this.registry.find(key);
    else {
      const at_ms = this.clock.nowMs();
      const event = { agent_id: 'a', session_id: sessionId, call_id: 'c', at_ms };
      await this.registry.introduceLoop(key, event as unknown as SemanticLoopEvent);
    }
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    this.isFree = true;
    this.store.commit();
    await this.registry.save();
    for (const key of KEYS) await this.#checkSession(key);
    const again = this.#newRegistry(100);
    await again.recover();
    for (const key of KEYS) expect(again.peek(key) ?? null).toEqual(await this.registry.find(key));
  }

  async #checkSession(key: SessionKey): Promise<void> {
    const { tenantId, sessionId } = splitSessionKey(key);
    const stored = this.store.steps.filter(
      (row) => row.tenant_id === tenantId && row.session_id === sessionId,
    );
    const shown = this.#published.filter(
      ({ tenantId: of, step }) => of === tenantId && step.session_id === sessionId,
    );
    expect(shown.map(({ step }) => step.seq)).toEqual(stored.map(({ seq }) => seq));
    const view = await this.registry.find(key);
    expect([key, view?.step_count ?? 0]).toEqual([key, stored.length]);
    if (stored.length === 0) return;
    expect(view).toMatchObject({ last_trace_id: stored.at(-1)?.trace_id });
    if (this.#lacking.has(key)) return;
    const size = RUNTIME_CONFIG_DEFAULTS.entropy_window_size;
    // Of two requests at once, either may be scored first.
    const sizes = stored.map(({ trace_id }) => this.#windows.get(trace_id) ?? 0).sort((a, b) => a - b);
    expect([key, sizes]).toEqual([key, stored.map((_, index) => Math.min(size, index + 1))]);
    if (!this.#tracker.has(key) || stored.length > size) return;
    const intents = stored.map(({ body }) => tupleOf(JSON.parse(body), 'name').intent).sort();
    expect([
      key,
      this.#tracker
        .snapshot(key)
        .map(({ intent }) => intent)
        .sort(),
    ]).toEqual([key, intents]);
  }
}

const session = fc.nat({ max: KEYS.length - 1 });
const few = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
const acts: fc.Arbitrary<Acts> = fc.record({
  senders: fc.array(
    fc.array(fc.record({ session, count: fc.integer({ min: 1, max: 2 }) }), { maxLength: 6 }),
    {
      minLength: 1,
      maxLength: 2,
    },
  ),
  others: fc.array(
    fc.record({
      do: fc.constantFrom('save' as const, 'save' as const, 'find' as const, 'loop' as const),
      session,
    }),
    { maxLength: 6 },
  ),
  sessionCountMax: fc.constantFrom(4, 5),
  windowCountMax: fc.constantFrom(4, 100),
  refused: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 1 }),
  commits: few,
  together: few,
});

it(
  'at once, in any order: each row is the fold of its steps, what is shown is in their order, and the disk has it',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 80);
  },
  RACES_MS,
);
