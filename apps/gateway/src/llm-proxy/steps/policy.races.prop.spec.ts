/**
 * Calls, policies and prices at once, on a limiter that several gateways share: what is sent to it arrives in order, when the scheduler
 * says, and its answers come late, or never. Once all is over, and it has been told all after it was away, it counts what calls took.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AgentScope,
  agentScope,
  allAgents,
  type BucketChange,
  type CallRow,
  type DocumentWrite,
  type LimitDecision,
  type LimitWindow,
  type ModelPrice,
  type RateLimiter,
  type SessionKey,
  type StoredDocument,
  sessionKey,
  tokensOf,
  wasUsed,
} from '#contracts';
import { readUnreadRequest } from '#domain/llm-dialects';
import { limitWindows, MemoryRateLimiter, SessionCaps, slidingLifeMs, toMicroUsd } from '#domain/policy';
import { DAY_MS, MINUTE_MS } from '#kernel';
import { buildLlmAnswer, checkRaces, FakeClock, letAllCome, RACES_MS, RaceOfActors, turn } from '#testing';
import { ADMIN } from '../../auth/access.fixture.js';
import { AgentActivity } from '../agents/agent-activity.js';
import { AgentBudgets } from '../agents/agent-budgets.js';
import { AgentDirectory } from '../agents/agent-directory.js';
import { answerStore } from '../calls/stored-answers.fixture.js';
import { newUnsettledAnswers } from '../calls/unsettled-answers.js';
import { EarlierUse } from '../limits/earlier-use.js';
import type { TakenFor, TakenLimits } from '../limits/taken-limits.js';
import { usedBy } from '../limits/used-by-call.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall } from '../proxy-call.js';
import { type PolicyParts, policyAgainStep, policyStep } from './policy.step.js';
import { recordStep } from './record.step.js';

const TENANT = 'default';
const AGENTS = ['a', 'b'] as const;
type Agent = (typeof AGENTS)[number];
const ALL = allAgents(TENANT);
const SCOPES: readonly AgentScope[] = [...AGENTS.map((agent) => agentScope(TENANT, agent)), ALL];
const SETTINGS = ['requests_per_minute', 'tokens_per_minute', 'budget_day_usd', 'budget_month_usd'] as const;
type Setting = (typeof SETTINGS)[number] | 'session_cost_usd_max' | 'cache';

/** Of what is sent to the limiter: what becomes of it. */
type Fate = 'answered' | 'unsent' | 'unheard';
type Ending = { used: number } | 'failed' | 'left' | 'kept';
type CallAct = { agent: Agent; outputMax: number; ending: Ending; isGone: boolean } | { fetch: number };
interface Acts {
  clients: CallAct[][];
  operators: { whose: number; name: Setting; limit: number | null }[][];
  prices: { usd: number }[];
  clock: { ms: number }[];
  back: { do: 'back' }[];
  fates: Fate[];
  /** How many answers come in one turn. */
  together: number[];
}

class FarLimiter implements RateLimiter {
  readonly near: MemoryRateLimiter;
  readonly #sent: (() => void)[] = [];
  hasFailed = false;
  isFree = false;
  #nth = 0;

  constructor(readonly race: Race) {
    this.near = new MemoryRateLimiter({ clock: race.clock });
  }

  take(windows: readonly LimitWindow[]): Promise<LimitDecision> {
    return this.#send(
      'take',
      () => this.near.takeNow(inBuckets(windows)),
      (decision) => {
        if (!decision.allowed) return;
        const given = windows.map((one) => ({ ...one, takenAtMs: decision.atMs, amount: -one.amount }));
        void this.#send(
          'give back',
          () => this.near.correctNow(inBuckets(given)),
          () => {},
          'answered',
        );
      },
    );
  }
  correct(changes: readonly BucketChange[]): Promise<void> {
    return this.#send(
      `correct ${changes.map(({ amount }) => amount)}`,
      () => this.near.correctNow(inBuckets(changes)),
      () => {},
    );
  }
  seed(changes: readonly BucketChange[]): Promise<void> {
    return this.#send(
      `seed ${changes.map(({ amount }) => amount)}`,
      () => void this.near.seed(inBuckets(changes)),
      () => {},
    );
  }

  /** @param late the reply comes when nobody waits for it any more */
  async #send<Reply>(
    what: string,
    apply: () => Reply,
    late: (reply: Reply) => void,
    sure?: Fate,
  ): Promise<Reply> {
    if (this.isFree) return apply();
    const { fates } = this.race.acts;
    const fate = sure ?? fates[this.#nth % fates.length];
    if (sure === undefined) this.#nth += 1;
    if (fate !== 'answered') this.hasFailed = true;
    if (fate === 'unsent') {
      this.race.note(`${what} is not sent`);
      await this.race.port(`no ${what}`);
      throw new Error('away');
    }
    const replied = new Promise<Reply>((resolve, reject) => {
      let isGivenUp = false;
      this.#sent.push(() => {
        const reply = apply();
        this.race.note(`${what} arrives`);
        void this.race.port(`answer to ${what}`).then(() => {
          if (isGivenUp) late(reply);
          else resolve(reply);
        });
      });
      if (fate === 'unheard')
        void this.race.port(`timeout of ${what}`).then(() => {
          isGivenUp = true;
          this.race.note(`${what} is given up`);
          reject(new Error('timeout'));
        });
    });
    void this.race.port(what).then(() => this.#sent.shift()?.());
    return replied;
  }
}

/** Each day and month is counted for itself, also once it is over. */
const inBuckets = <Change extends BucketChange>(changes: readonly Change[]): Change[] =>
  changes.map((change) => ({ ...change, key: `${change.key} ${change.startMs}` }));

/** What a call used in the end. */
interface Known {
  call: ProxyCall;
  scopes: readonly AgentScope[];
  session: SessionKey;
  tokens: number;
  isUsed: boolean;
}

class Race extends RaceOfActors {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 30, 23, 59, 20));
  readonly documents = new Map<string, StoredDocument>();
  readonly unwritten: CallRow[] = [];
  readonly rows: CallRow[] = [];
  readonly known: Known[] = [];
  readonly running = new Set<ProxyCall>();
  readonly limiter: FarLimiter;
  readonly activity = new AgentActivity(this.clock);
  readonly caps = new SessionCaps({ clock: this.clock });
  readonly agents: AgentDirectory;
  readonly budgets: AgentBudgets;
  readonly policy: ReturnType<typeof policyStep>;
  readonly policyAgain: ReturnType<typeof policyAgainStep>;
  readonly record: ReturnType<typeof recordStep>;
  readonly #kept: { agent: Agent; id: string }[] = [];
  #usd = 1;
  #serial = 0;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    const { clock, documents, activity, caps } = this;
    this.limiter = new FarLimiter(this);
    this.agents = new AgentDirectory({
      store: {
        documents: async (kind) =>
          structuredClone([...documents.values()].filter((one) => one.kind === kind)),
        openIncidents: async () => [],
        commitDocuments: async ({ saved = [] }: DocumentWrite) => {
          await this.port('commit of a policy');
          for (const one of saved) documents.set(`${one.kind} ${one.id}`, structuredClone(one));
        },
      },
      audit: { draft: () => ({}) } as never,
      clock,
      timer: { after: () => () => {} },
      onPolicy: () => {},
      onClosed: () => expect.unreachable(),
      onUnsaved: () => expect.unreachable(),
    });
    let writing = Promise.resolve();
    const write = async (count: number) => {
      await this.port('flush');
      this.rows.push(...this.unwritten.splice(0, count));
    };
    const log = {
      flush: () => {
        const { length } = this.unwritten;
        writing = writing.then(() => write(length));
        return writing;
      },
    };
    this.budgets = new AgentBudgets({
      store: { spendByAgent: async () => [], spend: () => expect.unreachable() },
      log,
      agents: this.agents,
      activity,
      limits: { limiter: this.limiter, isShared: true, isConnected: async () => true },
      alerts: { note: () => {}, overBudget: () => new Set() } as never,
      clock,
      running: () => this.running,
      onLimiterFailed: () => {},
    });
    const prices = {
      price: () =>
        ({
          input_usd: this.#usd,
          output_usd: this.#usd,
          cached_input_usd: null,
          cache_write_usd: null,
        }) as ModelPrice,
    };
    const parts: PolicyParts = {
      agents: this.agents,
      standing: () => undefined,
      prices,
      limiter: this.limiter,
      caps,
      unsettled: newUnsettledAnswers(answerStore(clock)),
      earlierUse: new EarlierUse({
        store: {
          calls: async ({ session_id, from_ms = 0, to_ms = Number.POSITIVE_INFINITY }) => {
            await this.port('read of a session');
            const items = this.rows
              .map(({ call }) => call)
              .filter((call) => call.session_id === session_id && wasUsed(call))
              .filter(({ started_at_ms: at }) => at >= from_ms && at < to_ms);
            await this.port('what was read');
            // A message from the store's worker comes in a turn of its own.
            await turn();
            return { items, next_cursor: null } as never;
          },
        },
        log,
        caps,
        clock,
      }),
      clock,
      onOverBudget: () => {},
      onBudgetBegun: ({ scope, period }) => void this.budgets.seedIfLost(scope, period),
      onLimiterFailed: () => {},
      onNotGivenBack: (changes) => this.budgets.owe(changes),
      onCapsFailed: () => expect.unreachable(),
    };
    this.policy = policyStep(parts);
    this.policyAgain = policyAgainStep(parts, {});
    this.record = recordStep({
      activity,
      events: { ended: () => {} },
      log: {
        add: (tenant_id, call, spent_at_ms) =>
          void this.unwritten.push({ tenant_id, call: structuredClone(call), spent_at_ms }),
      },
      onBegan: () => {},
      onEnded: () => {},
    });
  }

  async run(): Promise<void> {
    const { acts } = this;
    await this.agents.load();
    await this.budgets.recover();
    for (const [nth, calls] of acts.clients.entries())
      void this.actor(`client ${nth}`, calls, (act) =>
        'fetch' in act ? this.#fetch(act.fetch) : this.#call(act),
      );
    for (const [nth, sets] of acts.operators.entries())
      void this.actor(`operator ${nth}`, sets, async ({ whose, name, limit: some }) => {
        const scope = SCOPES[whose] as AgentScope;
        // A call that waits keeps what it took.
        if (name === 'cache')
          return void (await this.agents.patchPolicy(
            scope,
            { cache: some === null ? 'off' : 'exact_only' },
            ADMIN,
          ));
        const value =
          some === null
            ? null
            : name === 'requests_per_minute'
              ? some
              : name === 'tokens_per_minute'
                ? some * 30
                : (some * 30) / 1e6;
        await this.agents.patchPolicy(scope, { [name]: value }, ADMIN);
        await this.budgets.policyChanged(scope);
      });
    void this.actor('prices', acts.prices, ({ usd }) => {
      this.#usd = usd;
    });
    void this.actor('clock', acts.clock, ({ ms }) => {
      this.clock.advance(ms);
    });
    void this.actor('limiter', acts.back, () => this.budgets.tellAll());
    await this.idle();
    for (const failure of this.failures) throw failure;
    expect(this.running.size).toBe(0);
  }

  async idle(): Promise<void> {
    await letAllCome(this.scheduler, this.acts.together);
  }

  async #fetch(nth: number): Promise<void> {
    const kept = this.#kept[nth];
    if (kept === undefined) return;
    const { agent, id } = kept;
    const path = `/responses/${id}`;
    const call = buildProxyCall({
      id: `fetch-${this.#serial++}`,
      agentId: agent,
      sessionId: `s-${agent}`,
      method: 'GET',
      path,
      dialect: null,
    });
    call.unread = readUnreadRequest('GET', path, undefined);
    await this.#through(call, { used: 40 }, agent, false);
  }

  async #call({ agent, outputMax, ending, isGone }: Exclude<CallAct, { fetch: number }>): Promise<void> {
    const path = ending === 'kept' ? '/responses' : '/chat/completions';
    const body =
      ending === 'kept'
        ? { model: 'm', max_output_tokens: outputMax, background: true, input: 'Where is order 12?' }
        : { model: 'm', max_tokens: outputMax, messages: [{ role: 'user', content: 'Where is order 12?' }] };
    const call = buildProxyCall({
      id: `call-${this.#serial++}`,
      agentId: agent,
      sessionId: `s-${agent}`,
      path,
      body,
    });
    await this.#through(call, ending, agent, isGone);
  }

  /** As the route does. */
  async #through(call: ProxyCall, ending: Ending, agent: Agent, isGone: boolean): Promise<void> {
    Object.assign(call, { startedAtMs: this.clock.nowMs() });
    const scopes = [agentScope(TENANT, agent), ALL];
    const known: Known = {
      call,
      scopes,
      session: sessionKey(TENANT, `s-${agent}`),
      tokens: 0,
      isUsed: false,
    };
    this.known.push(known);
    this.running.add(call);
    this.record.run?.(call);
    if (isGone) void this.port(`leaving of ${call.id}`).then(() => call.leave());
    const asked = this.policy.run?.(call);
    let verdict = asked instanceof Promise ? await asked : asked;
    // For an operator, and then for the cache.
    for (let nth = 0; nth < 2 && verdict === undefined && !call.isGone; nth += 1) {
      await this.port(`wait of ${call.id}`);
      if (!call.isGone) verdict = await this.policyAgain.run?.(call);
    }
    this.note(`${call.id} ${verdict?.decision ?? 'passed'}`);
    if (verdict !== undefined) Object.assign(call, { decision: verdict.decision, status: 429 });
    else {
      if (!call.isGone) {
        await this.port(`upstream of ${call.id}`);
        this.#end(call, ending, agent);
      }
      if (call.isGone) Object.assign(call, { decision: 'aborted', status: 499, isAnswered: false });
    }
    this.note(`${call.id} ends`);
    this.policy.settle?.(call);
    this.record.settle?.(call);
    this.running.delete(call);
  }

  #end(call: ProxyCall, ending: Ending, agent: Agent): void {
    if (ending === 'failed') {
      Object.assign(call, { decision: 'upstream_failed', status: 502 });
      return;
    }
    call.wasTakenUp = true;
    if (call.isGone || ending === 'left') {
      call.leave();
      return;
    }
    const id = `resp_${this.#serial++}`;
    const some = ending === 'kept' ? null : ending.used;
    if (some === null) this.#kept.push({ agent, id });
    const usage =
      some === null
        ? null
        : {
            input_tokens: some,
            cached_input_tokens: 0,
            cache_write_tokens: 0,
            output_tokens: 0,
            reasoning_tokens: 0,
          };
    const answer = buildLlmAnswer({
      text: some === null ? '' : 'x',
      finish: some === null ? null : 'stop',
      usage,
      model: null,
      answer_id: some === null ? id : null,
    });
    // Of an answer that is fetched what it took is read where nobody has yet.
    const isRead = call.unread === null || call.unsettled !== null;
    Object.assign(call, { status: 200, isAnswered: true, answer: isRead ? answer : null });
  }

  async check(): Promise<void> {
    const { limiter } = this;
    limiter.isFree = true;
    if (limiter.hasFailed) await this.budgets.tellAll();
    const nowMs = this.clock.nowMs();
    for (const scope of SCOPES) {
      const policy = scope === ALL ? this.agents.restrictionOfAll(TENANT) : this.agents.restriction(scope);
      if (policy === null) continue;
      const windows = limitWindows(scope, policy, { requests: 0, tokens: 0, costMicroUsd: 0 }, nowMs);
      const { windows: states } = limiter.near.takeNow(inBuckets(windows));
      for (const [at, { name }] of windows.entries()) {
        const used = states[at]?.used;
        if (name === 'budget_day' || name === 'budget_month') {
          const isMonth = name === 'budget_month';
          const isIn = (atMs: number): boolean => isMonth || dayOf(atMs) === dayOf(nowMs);
          let [sum, most] = [0, 0];
          for (const { call, spent_at_ms } of this.#records(scope)) {
            if (!isIn(spent_at_ms ?? 0)) continue;
            const known = this.known.find((one) => one.call.id === call.call_id)?.call;
            const taken = scope === ALL ? known?.takenTogether : known?.taken;
            const cost = toMicroUsd(call.cost_usd ?? 0);
            sum += cost;
            most += cost;
            // Told with a seed that was on its way behind a take that was in vain.
            if (taken?.takenAtMs === null && limiter.hasFailed) most += taken.costMicroUsd ?? 0;
          }
          if (!(Number(used) >= sum && Number(used) <= most))
            expect([scope, name, used]).toEqual([scope, name, [sum, most]]);
        }
        if ((name === 'requests_per_minute' || name === 'tokens_per_minute') && !limiter.hasFailed)
          expect([scope, name, used]).toEqual([scope, name, this.#usedLately(scope, name)]);
      }
      const { day, month } = this.activity.spent(scope);
      const sum = (isIn: (atMs: number) => boolean) =>
        this.#records(scope).reduce(
          (total, { call, spent_at_ms }) =>
            total + (isIn(spent_at_ms ?? 0) ? toMicroUsd(call.cost_usd ?? 0) : 0),
          0,
        );
      expect([scope, day, month]).toEqual([
        scope,
        sum((atMs) => dayOf(atMs) === dayOf(nowMs)),
        sum(() => true),
      ]);
    }
    for (const agent of AGENTS) {
      const use = this.caps.look(sessionKey(TENANT, `s-${agent}`));
      if (use === null) continue;
      const used = [...this.rows, ...this.unwritten].filter(
        ({ call }) => call.agent_id === agent && wasUsed(call),
      );
      const cost = used.reduce((total, { call }) => total + toMicroUsd(call.cost_usd ?? 0), 0);
      expect(['caps', agent, use.callCount, use.costMicroUsd]).toEqual(['caps', agent, used.length, cost]);
    }
  }

  /** By calls that took of it, in slots that count. */
  #usedLately(scope: AgentScope, name: 'requests_per_minute' | 'tokens_per_minute'): number {
    const isCounted = (atMs: number) =>
      atMs - (atMs % SLOT_MS) + slidingLifeMs(MINUTE_MS) > this.clock.nowMs();
    let sum = 0;
    const add = (taken: TakenLimits | null | undefined, amount: number): void => {
      if (taken?.takenAtMs != null && taken.policy[name] !== null && isCounted(taken.takenAtMs))
        sum += amount;
    };
    const of = (call: TakenFor) => (scope === ALL ? call.takenTogether : call.taken);
    for (const { call, scopes } of this.known) {
      if (!scopes.includes(scope)) continue;
      const { requests, usage } = usedBy(call);
      add(of(call), name === 'requests_per_minute' ? requests : tokensOf(usage));
      if (call.unsettled === null || name === 'requests_per_minute') continue;
      // What its answer took comes in the place of what was counted for it.
      const fetched = call.answer?.usage;
      const before = of(call.unsettled);
      if (fetched && before) add(before, tokensOf(fetched) - before.tokens);
    }
    return sum;
  }

  #records(scope: AgentScope): CallRow[] {
    return [...this.rows, ...this.unwritten].filter(
      ({ call }) => scope === ALL || agentScope(TENANT, call.agent_id) === scope,
    );
  }
}

/** Of a minute. */
const SLOT_MS = 1_000;
const dayOf = (atMs: number): number => atMs - (atMs % DAY_MS);

const limit = fc.constantFrom(null, 2, 4, 8, 16);
const agent = fc.constantFrom(...AGENTS);
const call: fc.Arbitrary<CallAct> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      agent,
      outputMax: fc.constantFrom(1, 30, 80),
      ending: fc.oneof(
        fc.record({ used: fc.constantFrom(5, 40, 150) }),
        fc.record({ used: fc.constantFrom(5, 40, 150) }),
        fc.constantFrom<Ending>('failed', 'left', 'kept'),
      ),
      isGone: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ fetch: fc.nat({ max: 2 }) }) },
);
const name = fc.constantFrom<Setting>(
  ...SETTINGS,
  'budget_day_usd',
  'budget_month_usd',
  'session_cost_usd_max',
  'cache',
);
const few = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
const actsWith = (fates: fc.Arbitrary<Fate[]>, clock: boolean): fc.Arbitrary<Acts> =>
  fc.record({
    clients: fc.array(fc.array(call, { maxLength: 4 }), { maxLength: 4 }),
    operators: fc.array(
      fc.array(fc.record({ whose: fc.nat({ max: SCOPES.length - 1 }), name, limit }), { maxLength: 3 }),
      { maxLength: 2 },
    ),
    prices: fc.array(fc.record({ usd: fc.constantFrom(1, 2) }), { maxLength: 1 }),
    clock: clock
      ? fc.array(fc.record({ ms: fc.constantFrom(1_000, 30_000, 60_000) }), { maxLength: 4 })
      : fc.constant([]),
    back: fc.array(fc.record({ do: fc.constant('back' as const) }), { maxLength: 2 }),
    fates,
    together: few,
  });
const ANSWERED = fc.constant<Fate[]>(['answered']);
const ANY = fc.array(fc.constantFrom<Fate>('answered', 'answered', 'answered', 'unsent', 'unheard'), {
  minLength: 1,
  maxLength: 8,
});

it.each([
  ['answers', ANSWERED, false],
  ['answers, about midnight', ANSWERED, true],
  ['is away now and then', ANY, false],
] as const)(
  'counts what calls took, where the limiter %s',
  async (_, fates, clock) => {
    await checkRaces(actsWith(fates, clock), (all, scheduler) => new Race(all, scheduler), 500);
  },
  RACES_MS,
);
