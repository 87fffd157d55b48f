/**
 * Calls of a few sessions that begin, end, wait for their tools, make no step, take something back or are reported by their agent,
 * while steps are stored one batch after another, or refused for a moment. Whatever the order: each call that makes a step is told
 * once, in the order in which the steps left, and the row of its session says what all of its calls took.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type DecisionStore,
  type LlmAnswer,
  ObservatoryError,
  type SessionKey,
  type SessionView,
  type StoredStep,
  sessionKey,
} from '#contracts';
import { initialControl } from '#domain/decision-log';
import { buildLlmAnswer, checkRaces, FakeTime, letAllCome, RACES_MS, RaceOfActors, turn } from '#testing';
import type { Incoming } from '../../decision-log/read-message.js';
import type { SchemaInterceptor } from '../../decision-log/schema-interceptor.js';
import { SessionRegistry } from '../../decision-log/session-registry.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall } from '../proxy-call.js';
import { sessionBegunStep, sessionStepsStep } from '../steps/session-steps.step.js';
import { StepDelivery } from './step-delivery.js';
import { StepFeed } from './step-feed.js';

const SESSIONS = ['s', 't', 'u', 'v', 'w', 'x'] as const;
/** More than there are callers: none leaves memory while something of it is on its way, however many others do. */
const ROWS_MAX = 4;
const REFUSED_MAX = 3;

type Act = {
  session: number;
  /** A step at once, one that waits for tools, none; none, which takes back half of what another was estimated at; one that no upstream had. */
  kind: 'plain' | 'tools' | 'stepless' | 'refund' | 'unsent';
  /** Null: unknown. */
  costMicroUsd: number | null;
  tokens: number;
};
interface Acts {
  callers: Act[][];
  flushCount: number;
  /** Of the batches that reach the store, those that it refuses, at once or once their turn has come. */
  refused: { nth: number; isAtOnce: boolean }[];
  /** It refuses so many at the end. */
  lastRefusals: number;
  /** Of rows in memory; others leave it, are saved, and come back. */
  rowsMax: number;
  together: number[];
}

interface Ended extends Act {
  call: ProxyCall;
  isTakenBack: boolean;
}

class Race extends RaceOfActors {
  readonly #time = new FakeTime();
  readonly #registry: SessionRegistry;
  readonly #delivery: StepDelivery;
  readonly #feed: StepFeed;
  readonly #ended: Ended[] = [];
  readonly #left: string[] = [];
  readonly #told: string[] = [];
  readonly #looks = new Map<string, Promise<unknown>>();
  /** In the store. */
  readonly #rows = new Map<SessionKey, SessionView>();
  #storing: Promise<unknown> = Promise.resolve();
  #serial = 0;
  #batchCount = 0;
  #lastRefusals = 0;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    this.#registry = new SessionRegistry({
      clock: this.#time,
      store: {
        // Of one session in order.
        session: (tenantId: string, sessionId: string) => {
          const before = this.#looks.get(sessionId);
          const look = (async () => {
            await before;
            await this.port(`look at ${sessionId}`);
            const row = this.#rows.get(sessionKey(tenantId, sessionId)) ?? null;
            await this.port(`row of ${sessionId}`);
            return structuredClone(row);
          })();
          this.#looks.set(sessionId, look);
          return look;
        },
        saveSessions: async (rows: { tenant_id: string; view: SessionView }[]) => {
          const taken = structuredClone(rows);
          await this.port(`${taken.length} rows saved`);
          for (const { tenant_id, view } of taken)
            this.#rows.set(sessionKey(tenant_id, view.session_id), view);
        },
      } as unknown as DecisionStore,
      live: { publish: () => {}, isWatched: () => false },
      sessionCountMax: acts.rowsMax,
      controlOf: initialControl,
      heldKeys: () => [],
      onStoreFailed: (error) => this.failures.push(error),
    });
    this.#delivery = new StepDelivery({
      timer: this.#time,
      refuses: () => false,
      onRefused: (_count, error) => this.failures.push(error ?? new Error('given up')),
    });
    this.#delivery.connect(
      {
        intercept: (tenantId: string, messages: readonly Incoming[]) => this.#store(tenantId, messages),
      } as unknown as SchemaInterceptor,
      this.#registry,
    );
    this.#feed = new StepFeed({
      clock: this.#time,
      deliver: (tenantId, logs) => {
        this.#left.push(...logs.map(({ meta }) => meta.trace_id));
        this.#delivery.deliver(tenantId, logs);
      },
      onWaiting: (key, log) => void this.#registry.introduceWaiting(key, log),
      onStepless: (uses) => this.#delivery.noteStepless(uses),
      rowOf: (key) => this.#registry.peek(key),
      onSkipped: () => this.failures.push(new Error('skipped')),
    });
  }

  async run(): Promise<void> {
    for (const [nth, acts] of this.acts.callers.entries())
      void this.actor(`caller ${nth}`, acts, (act) => this.#call(act));
    void this.actor('flush', new Array(this.acts.flushCount).fill(0), () => this.#feed.flush());
    void this.actor('save', new Array(this.acts.flushCount).fill(0), () => this.#registry.save());
    await letAllCome(this.scheduler, this.acts.together);
    for (let nth = 0; nth <= REFUSED_MAX; nth += 1) {
      await this.#time.pass(1_000);
      await letAllCome(this.scheduler, this.acts.together);
    }
    expect(this.#told).toEqual(this.#left);
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    this.isFree = true;
    this.#feed.stop();
    let isStopped = false;
    void this.#delivery.stop().then(() => {
      isStopped = true;
    });
    for (let nth = 0; nth < 20 && !isStopped; nth += 1) await this.#time.pass(100);
    expect(isStopped).toBe(true);
    for (const failure of this.failures) throw failure;
    const steps = this.#ended.filter(({ kind }) => kind === 'plain' || kind === 'tools');
    expect([...this.#told].sort()).toEqual(steps.map(({ call }) => call.id).sort());
    expect(this.#told).toEqual(this.#left);
    await turn();
    for (const session of SESSIONS.keys()) await this.#checkSession(session);
  }

  async #checkSession(session: number): Promise<void> {
    const ended = this.#ended.filter((one) => one.session === session);
    const key = ended[0]?.call.sessionKey as SessionKey;
    const view = key && ((await this.#registry.find(key)) ?? undefined);
    const madeSteps = ended.some(({ kind }) => kind === 'plain' || kind === 'tools');
    const tookSomething = ended.some(({ tokens, costMicroUsd }) => tokens > 0 || costMicroUsd !== 0);
    const wasBegun = ended.some(({ kind }) => kind === 'unsent');
    expect([session, view !== undefined]).toEqual([session, madeSteps || tookSomething || wasBegun]);
    if (view === undefined) return;
    expect([session, view.step_count]).toEqual([
      session,
      ended.filter(({ kind }) => kind === 'plain' || kind === 'tools').length,
    ]);
    // How a call of it ends is heard by a row in memory alone.
    if (view.step_count === 0 && this.acts.rowsMax > ROWS_MAX)
      expect([session, view.last_status]).toEqual([session, 'success']);
    const { tokens, cost_usd, cost_unknown } = view;
    const sum = (of: (act: Act) => number) => ended.reduce((all, act) => all + of(act), 0);
    expect([session, { tokens, cost: Math.round(cost_usd * 1e6), cost_unknown }]).toEqual([
      session,
      {
        tokens: sum((act) => act.tokens),
        cost: sum(({ costMicroUsd }) => costMicroUsd ?? 0),
        cost_unknown: ended.some(({ costMicroUsd }) => costMicroUsd === null),
      },
    ]);
  }

  async #call(act: Act): Promise<void> {
    const sessionId = SESSIONS[act.session] as string;
    const { kind } = act;
    const tokens = kind === 'unsent' ? 0 : act.tokens;
    this.#serial += 1;
    const step = sessionStepsStep(this.#feed);
    const messages = [{ role: 'user', content: `Question ${this.#serial}` }];
    const call = buildProxyCall({
      id: `call-${this.#serial}`,
      sessionId,
      ...(kind === 'stepless' || kind === 'refund' ? { dialect: null } : { body: { model: 'm', messages } }),
    });
    step.run?.(call);
    sessionBegunStep(this.#feed).run?.(call);
    await this.port(`${call.id} is answered`);
    const costMicroUsd =
      kind === 'refund' ? this.#takeBack(act.session) : kind === 'unsent' ? 0 : act.costMicroUsd;
    const usage = { input_tokens: tokens, output_tokens: 0 };
    const tool_calls = kind === 'tools' ? [{ id: null, name: 'look', arguments: '{}' }] : [];
    if (kind === 'unsent') call.decision = 'refused';
    else {
      call.answer = buildLlmAnswer({ usage, tool_calls } as unknown as Partial<LlmAnswer>);
      call.isAnswered = true;
      call.decision = 'forwarded';
    }
    call.costMicroUsd = costMicroUsd;
    this.trail.push(`${call.id} ended`);
    step.settle?.(call);
    this.#registry.noteCall(call.sessionKey as SessionKey, call.id, null);
    this.#ended.push({ ...act, tokens, costMicroUsd, call, isTakenBack: false });
  }

  #takeBack(session: number): number {
    const estimated = this.#ended.find(
      (one) => one.session === session && !one.isTakenBack && (one.costMicroUsd ?? 0) > 0,
    );
    // A row that is on its way back into memory may be told of it before what it was estimated at.
    if (estimated === undefined || this.acts.rowsMax === ROWS_MAX) return 0;
    estimated.isTakenBack = true;
    return -(estimated.costMicroUsd as number) / 2;
  }

  /** As the interceptor does: one batch after the other is stored, then shown. */
  async #store(tenantId: string, messages: readonly Incoming[]): Promise<[]> {
    const logs = structuredClone(messages.map((message) => (message as { value: StoredStep['log'] }).value));
    const names = logs.map(({ meta }) => meta.trace_id);
    const refusal = this.#refusal();
    if (refusal?.isAtOnce) {
      this.note(`${names} refused`);
      throw new ObservatoryError('store_busy');
    }
    const before = this.#storing;
    this.#storing = (async () => {
      await before;
      await this.port(`${names} ${refusal === undefined ? 'stored' : 'refused'}`);
    })();
    await this.#storing;
    if (refusal !== undefined) throw new ObservatoryError('store_full');
    for (const log of logs) {
      this.trail.push(`${log.meta.trace_id} shown ${JSON.stringify(log.state_delta)}`);
      this.#told.push(log.meta.trace_id);
      const session_id = log.meta.session_id as string;
      const step = {
        tenant_id: tenantId,
        session_id,
        seq: this.#told.length,
        received_at_ms: this.#time.nowMs(),
        log,
      };
      await this.#bringBack(sessionKey(tenantId, session_id));
      this.#registry.apply(sessionKey(tenantId, session_id), step as StoredStep, []);
    }
    return [];
  }

  async #bringBack(key: SessionKey): Promise<void> {
    if (this.#registry.mayHaveLeft(key)) await this.#registry.bringBack(key);
  }

  #refusal(): { isAtOnce: boolean } | undefined {
    this.#batchCount += 1;
    const nth = this.#batchCount;
    if (!this.isFree) return this.acts.refused.find((one) => one.nth === nth);
    this.#lastRefusals += 1;
    return this.#lastRefusals <= this.acts.lastRefusals ? { isAtOnce: nth % 2 === 0 } : undefined;
  }
}

const act: fc.Arbitrary<Act> = fc.record({
  session: fc.oneof(fc.constantFrom(0, 0, 1), fc.nat({ max: SESSIONS.length - 1 })),
  kind: fc.constantFrom(
    'plain' as const,
    'tools' as const,
    'tools' as const,
    'stepless' as const,
    'refund' as const,
    'unsent' as const,
  ),
  costMicroUsd: fc.constantFrom(0, 1_000, 2_000, null),
  tokens: fc.constantFrom(0, 10),
});
const acts: fc.Arbitrary<Acts> = fc.record({
  callers: fc.array(fc.array(act, { maxLength: 7 }), { minLength: 1, maxLength: 3 }),
  flushCount: fc.nat({ max: 4 }),
  refused: fc.array(fc.record({ nth: fc.integer({ min: 1, max: 6 }), isAtOnce: fc.boolean() }), {
    maxLength: REFUSED_MAX,
  }),
  lastRefusals: fc.constantFrom(0, 0, 1, 3),
  rowsMax: fc.constantFrom(100, ROWS_MAX),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  'at once, in any order: each call is told once, and the row of its session says what all of its calls took',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 100);
  },
  RACES_MS,
);
