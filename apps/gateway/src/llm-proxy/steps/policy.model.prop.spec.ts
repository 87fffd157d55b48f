/**
 * Whatever happens to limits, calls, the clock and the process: a call goes on as long as all that was used, and is being used, leaves
 * room for it. The reference keeps every call; of an hour it knows less where its sum came from the store, and is spread.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AgentPolicy,
  type AgentScope,
  type AgentSpend,
  agentScope,
  allAgents,
  type BucketChange,
  type CallRow,
  type DocumentWrite,
  isAllAgents,
  type LimitDecision,
  type LimitWindow,
  type ModelPrice,
  type StoredDocument,
} from '#contracts';
import {
  LIMIT_NAMES,
  type LimitName,
  limitWindows,
  MemoryRateLimiter,
  SessionCaps,
  toMicroUsd,
} from '#domain/policy';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';
import { buildLlmAnswer, FakeClock, modelRuns, RACES_MS } from '#testing';
import { ADMIN } from '../../auth/access.fixture.js';
import { AgentActivity } from '../agents/agent-activity.js';
import { AgentBudgets } from '../agents/agent-budgets.js';
import { AgentDirectory } from '../agents/agent-directory.js';
import { answerStore } from '../calls/stored-answers.fixture.js';
import { newUnsettledAnswers } from '../calls/unsettled-answers.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall } from '../proxy-call.js';
import { policyStep } from './policy.step.js';
import { recordStep } from './record.step.js';

const AGENTS = ['a', 'b'] as const;
type Agent = (typeof AGENTS)[number];
const ALL = allAgents('default');
const SCOPES: readonly AgentScope[] = [...AGENTS.map((agent) => agentScope('default', agent)), ALL];
/** @param usd for a million tokens: as many micro-dollars a token */
const priceAt = (usd: number) =>
  ({ input_usd: usd, output_usd: usd, cached_input_usd: null, cache_write_usd: null }) as ModelPrice;
const MODELS = ['priced', 'unpriced'] as const;
const SETTING = {
  requests_per_minute: 'requests_per_minute',
  tokens_per_minute: 'tokens_per_minute',
  budget_hour: 'budget_hour_usd',
  budget_day: 'budget_day_usd',
  budget_month: 'budget_month_usd',
} as const satisfies Record<LimitName, keyof AgentPolicy>;

type Ending = { used: number } | 'failed' | 'left';
type Act =
  | { do: 'begin'; agent: Agent; outputMax: number; model: (typeof MODELS)[number] }
  | { do: 'end'; which: number; ending: Ending }
  | { do: 'set'; whose: number; name: LimitName; limit: number | null }
  | { do: 'price'; usd: number | null }
  | { do: 'turns'; count: number }
  | { do: 'pass' | 'setBack'; ms: number }
  | { do: 'restart'; isCrash: boolean; downMs: number };

const limit = fc.constantFrom(null, 2, 4, 8, 16);
const actsThat = (mayGoBack: boolean): fc.Arbitrary<Act[]> => {
  const act = fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        do: fc.constant('begin'),
        agent: fc.constantFrom(...AGENTS),
        outputMax: fc.constantFrom(1, 30, 80),
        model: fc.constantFrom('priced', 'priced', 'priced', 'unpriced'),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('end'),
        which: fc.nat(5),
        ending: fc.oneof(
          fc.record({ used: fc.constantFrom(5, 40, 150) }),
          fc.record({ used: fc.constantFrom(5, 40, 150) }),
          fc.constantFrom('failed', 'left'),
        ),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('set'),
        whose: fc.nat(SCOPES.length - 1),
        name: fc.constantFrom(...LIMIT_NAMES),
        limit,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('price'), usd: fc.constantFrom(0, 1, 1, 2, null) }),
    },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('turns'), count: fc.integer({ min: 1, max: 12 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('pass'),
        ms: fc.constantFrom(1, 800, 20_000, MINUTE_MS, 61_000, 25 * MINUTE_MS, HOUR_MS, 5 * HOUR_MS, DAY_MS),
      }),
    },
    {
      weight: mayGoBack ? 2 : 0,
      arbitrary: fc.record({
        do: fc.constant('setBack'),
        ms: fc.constantFrom(500, 30_000, 90_000, HOUR_MS, 13 * HOUR_MS, 3 * DAY_MS),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('restart'),
        isCrash: fc.boolean(),
        downMs: fc.constantFrom(0, 1_000, HOUR_MS),
      }),
    },
  ) as fc.Arbitrary<Act>;
  return fc.array(act, { maxLength: 50, size: 'max' });
};

/** Remembers what it was asked. */
class WatchedLimiter extends MemoryRateLimiter {
  readonly decisions: LimitDecision[] = [];
  /** Counters of an hour that have more of it than was taken, by key. */
  readonly spread = new Set<string>();

  override takeNow(windows: readonly LimitWindow[]): LimitDecision {
    const decision = super.takeNow(windows);
    this.decisions.push(decision);
    return decision;
  }
  override async seed(changes: readonly BucketChange[]): Promise<void> {
    for (const { kind, key } of changes) if (kind === 'sliding') this.spread.add(key);
    return super.seed(changes);
  }
}

/** A call as the reference knows it. */
interface Known {
  scopes: readonly AgentScope[];
  atMs: number;
  /** Of which process. */
  process: number;
  /** What was in force when it was let through, by scope. */
  under: Map<AgentScope, AgentPolicy | null>;
  tokens: number;
  /** Null: nobody knows. */
  cost: number | null;
  /** Of the cost: what a call under way for longer than an hour leaves of an hour that is spread. */
  estimate: number;
  tokensEstimated: number;
  state: 'running' | 'ended' | 'lost';
  isUsed: boolean;
  /** Begun by a clock that was ahead: it counts as of now, or of then. */
  wasAhead: boolean;
}

interface Range {
  min: number;
  max: number;
}

class Run {
  readonly clock = new FakeClock();
  readonly documents = new Map<string, StoredDocument>();
  readonly rows: CallRow[] = [];
  readonly calls: Known[] = [];
  readonly running = new Map<ProxyCall, Known>();
  readonly trail: string[] = [];
  /** Of the model that has a price; null: it has none any more. */
  #usd: number | null = 1;
  /** Of changes under way. */
  #pending = 0;
  #process = 0;
  isExact = true;
  limiter!: WatchedLimiter;
  agents!: AgentDirectory;
  activity!: AgentActivity;
  budgets!: AgentBudgets;
  policy!: ReturnType<typeof policyStep>;
  record!: ReturnType<typeof recordStep>;

  async start(): Promise<void> {
    const { clock, documents, rows } = this;
    this.#process += 1;
    this.limiter = new WatchedLimiter({ clock });
    this.activity = new AgentActivity(clock);
    this.agents = new AgentDirectory({
      store: {
        documents: async (kind) =>
          structuredClone([...documents.values()].filter((one) => one.kind === kind)),
        openIncidents: async () => [],
        commitDocuments: async ({ saved = [] }: DocumentWrite) => {
          await null;
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
    const spent = (by: (row: CallRow) => string, fromMs: number): AgentSpend[] => {
      const sums = new Map<string, AgentSpend>();
      for (const row of rows) {
        const hour_ms = hourOf(row.spent_at_ms ?? 0);
        if (hour_ms < hourOf(fromMs)) continue;
        const { agent_id, cost_usd } = row.call;
        const key = `${by(row)} ${hour_ms}`;
        const none = { tenant_id: 'default', agent_id, hour_ms, cost_usd: 0, unpriced_call_count: 0 };
        const sum = sums.get(key) ?? none;
        sum.cost_usd += cost_usd ?? 0;
        sums.set(key, sum);
      }
      return [...sums.values()];
    };
    this.budgets = new AgentBudgets({
      store: {
        spendByAgent: async (fromMs) => spent(({ call }) => call.agent_id, fromMs),
        spend: async ({ agent_id, from_ms = 0, to_ms = 0 }) => {
          await null;
          return spent(({ call }) => String(call.agent_id === agent_id || agent_id === undefined), from_ms)
            .filter((one) => one.agent_id === (agent_id ?? one.agent_id) && one.hour_ms < to_ms)
            .map((one) => ({ ...one, key: new Date(one.hour_ms).toISOString() }) as never);
        },
      },
      log: { flush: async () => {} },
      agents: this.agents,
      activity: this.activity,
      limits: { limiter: this.limiter, isShared: false, isConnected: async () => false },
      alerts: { note: () => {}, overBudget: () => new Set() } as never,
      clock,
      running: () => this.running.keys(),
      onLimiterFailed: () => expect.unreachable(),
    });
    this.policy = policyStep({
      agents: this.agents,
      standing: () => undefined,
      prices: {
        price: (_tenantId, model) => (model === 'priced' && this.#usd !== null ? priceAt(this.#usd) : null),
      },
      limiter: this.limiter,
      caps: new SessionCaps({ clock }),
      unsettled: newUnsettledAnswers(answerStore(clock)),
      earlierUse: { mayHave: () => false, restore: () => expect.unreachable(), noteUncounted: () => {} },
      clock,
      onOverBudget: () => {},
      onBudgetBegun: ({ scope, period }) => this.#await(this.budgets.seedIfLost(scope, period)),
      onLimiterFailed: () => expect.unreachable(),
      onNotGivenBack: () => expect.unreachable(),
      onCapsFailed: () => expect.unreachable(),
    });
    this.record = recordStep({
      activity: this.activity,
      events: { ended: () => {} },
      log: {
        add: (tenant_id, call, spent_at_ms) =>
          void rows.push({ tenant_id, call: structuredClone(call), spent_at_ms }),
      },
      onBegan: () => {},
      onEnded: () => {},
    });
    await this.agents.load();
    await this.budgets.recover();
  }

  #await(work: Promise<unknown>): void {
    this.#pending += 1;
    void work.finally(() => {
      this.#pending -= 1;
    });
  }

  async #settle(): Promise<void> {
    while (this.#pending > 0) await null;
  }

  async apply(act: Act): Promise<void> {
    const { clock } = this;
    this.trail.push(JSON.stringify(act));
    switch (act.do) {
      case 'begin':
        this.#begin(act);
        break;
      case 'end':
        this.#end([...this.running.keys()][act.which % Math.max(1, this.running.size)], act.ending);
        break;
      case 'set': {
        const { whose, name, limit: some } = act;
        const scope = SCOPES[whose] as AgentScope;
        const value =
          some === null
            ? null
            : name === 'requests_per_minute'
              ? some
              : name === 'tokens_per_minute'
                ? some * 30
                : (some * 30) / 1e6;
        const set = async () => {
          await this.agents.patchPolicy(scope, { [SETTING[name]]: value }, ADMIN);
          await this.budgets.policyChanged(scope);
        };
        this.#await(set());
        break;
      }
      case 'price':
        this.#usd = act.usd;
        break;
      case 'turns':
        for (let turn = 0; turn < act.count; turn += 1) await null;
        break;
      case 'pass':
        await this.#settle();
        clock.advance(act.ms);
        break;
      case 'setBack':
        await this.#settle();
        clock.advance(-act.ms);
        for (const call of this.calls) call.wasAhead ||= call.atMs > clock.nowMs();
        this.isExact = false;
        break;
      case 'restart':
        if (!act.isCrash) for (const call of [...this.running.keys()]) this.#end(call, 'left');
        await this.#settle();
        for (const known of this.running.values()) known.state = 'lost';
        this.running.clear();
        clock.advance(act.downMs);
        await this.start();
        break;
    }
    this.#check();
  }

  #begin({ agent, outputMax, model }: Act & { do: 'begin' }): void {
    const { clock, limiter } = this;
    const body = {
      model,
      max_tokens: outputMax,
      messages: [{ role: 'user', content: 'Where is order 12?' }],
    };
    const call = buildProxyCall({
      id: `call-${this.calls.length}`,
      agentId: agent,
      sessionId: `s-${agent}`,
      body,
    });
    Object.assign(call, { startedAtMs: clock.nowMs() });
    const scopes = [agentScope('default', agent), ALL];
    const tokens = Math.ceil(JSON.stringify(body).length / 4) + outputMax;
    const policies = scopes.map((scope) =>
      isAllAgents(scope) ? this.agents.restrictionOfAll('default') : this.agents.restriction(scope),
    );
    const cost = this.#costOf(model, tokens);
    const known: Known = {
      scopes,
      atMs: clock.nowMs(),
      process: this.#process,
      under: new Map(),
      tokens,
      cost,
      estimate: cost ?? 1,
      tokensEstimated: tokens,
      state: 'running',
      isUsed: true,
      wasAhead: false,
    };
    const isSettled = this.#pending === 0;
    const before = scopes.map((scope, at) => this.#limitsOf(scope, policies[at] ?? null));
    limiter.decisions.length = 0;
    this.running.set(call, known);
    this.record.run?.(call);
    const verdict = this.policy.run?.(call) as { decision: ProxyCall['decision'] } | undefined;
    const mayBeLost =
      !isSettled || (!this.isExact && limiter.decisions.some(({ begun }) => begun.includes(true)));
    const fits = (used: (range: Range) => number) =>
      before.every((limits) =>
        limits.every(({ name, range, limit: max }) => used(range) + amountOf(name, tokens, cost) <= max),
      );
    if (verdict === undefined) {
      if (!mayBeLost)
        must(
          fits(({ min }) => min),
          'was let through',
        );
      for (const [at, scope] of scopes.entries()) known.under.set(scope, policies[at] ?? null);
      this.calls.push(known);
    } else {
      must(!fits(({ max }) => max), 'was refused');
      Object.assign(call, { decision: verdict.decision, status: 429 });
      this.#over(call);
    }
  }

  /** As prices are now. */
  #costOf(model: string | null, tokens: number): number | null {
    return model !== 'priced' || this.#usd === null ? null : tokens * this.#usd;
  }

  #over(call: ProxyCall): void {
    this.policy.settle?.(call);
    this.record.settle?.(call);
    this.running.delete(call);
  }

  #end(call: ProxyCall | undefined, ending: Ending): void {
    const known = call && this.running.get(call);
    if (call === undefined || known === undefined) return;
    known.state = 'ended';
    if (ending === 'failed') {
      Object.assign(known, { isUsed: false, tokens: 0, cost: 0 });
      Object.assign(call, { decision: 'upstream_failed', status: 502 });
    } else if (ending === 'left') {
      known.cost = this.#costOf(call.model, known.tokens);
      Object.assign(call, { decision: 'aborted', status: 499, wasTakenUp: true, isGone: true });
    } else {
      Object.assign(known, { tokens: ending.used, cost: this.#costOf(call.model, ending.used) });
      const usage = {
        input_tokens: ending.used,
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
      };
      const answer = buildLlmAnswer({ text: 'x', finish: 'stop', usage, model: null });
      Object.assign(call, { status: 200, wasTakenUp: true, isAnswered: true, answer });
    }
    this.#over(call);
  }

  #limitsOf(
    scope: AgentScope,
    policy: AgentPolicy | null,
  ): { name: LimitName; range: Range; limit: number }[] {
    if (policy === null) return [];
    return LIMIT_NAMES.filter((name) => policy[SETTING[name]] !== null).map((name) => {
      const value = policy[SETTING[name]] as number;
      return {
        name,
        range: this.#used(scope, name),
        limit: name.startsWith('budget') ? toMicroUsd(value) : value,
      };
    });
  }

  /** What is used and being used of a limit that is set. */
  #used(scope: AgentScope, name: LimitName): Range {
    const nowMs = this.clock.nowMs();
    const range = { min: 0, max: 0 };
    for (const call of this.calls) {
      if (!call.scopes.includes(scope) || call.state === 'lost') continue;
      const tookOfIt = (call.under.get(scope)?.[SETTING[name]] ?? null) !== null;
      const isHere = call.process === this.#process;
      const isCostOver = call.state === 'ended' && !name.endsWith('minute');
      const amount = isCostOver ? (call.cost ?? 0) : amountOf(name, call.tokens, call.cost, call.isUsed);
      if (!this.isExact) {
        const most = Math.max(amount, amountOf(name, call.tokensEstimated, call.estimate));
        // Its sum is spread; what was taken in an hour that had come, and spent in the one that came back, may count in both.
        if (name === 'budget_hour') range.max += amount + most;
        // What was not used is looked for in the slot of now, where the clock was ahead.
        else range.max += call.wasAhead && name.endsWith('minute') ? most : amount;
        const isIn =
          name === 'budget_day' ? dayOf(call.atMs) === dayOf(nowMs) : monthOf(call.atMs) === monthOf(nowMs);
        if (name !== 'budget_day' && name !== 'budget_month') continue;
        if (isIn && !call.wasAhead && (call.state === 'ended' || tookOfIt)) range.min += amount;
        continue;
      }
      if (call.state === 'running' && !tookOfIt) continue;
      if (name === 'budget_day' || name === 'budget_month') {
        const isIn =
          name === 'budget_day' ? dayOf(call.atMs) === dayOf(nowMs) : monthOf(call.atMs) === monthOf(nowMs);
        if (isIn) add(range, amount);
      } else if (name === 'budget_hour') {
        const isSpread = this.limiter.spread.has(`${scope}\0${name}`);
        if (tookOfIt && isHere && slides(call.atMs, nowMs, HOUR_MS)) add(range, amount);
        else if (isSpread && call.atMs >= hourOf(nowMs) - 2 * HOUR_MS)
          range.max += Math.max(amount, call.estimate);
        else if (slides(call.atMs, nowMs, HOUR_MS)) range.max += amount;
      } else if (tookOfIt && isHere && slides(call.atMs, nowMs, MINUTE_MS)) add(range, amount);
    }
    return range;
  }

  #check(): void {
    if (!this.isExact || this.#pending > 0) return;
    const nowMs = this.clock.nowMs();
    for (const scope of SCOPES) {
      const policy = this.agents.restriction(scope);
      if (policy === null) continue;
      const windows = limitWindows(scope, policy, { requests: 0, tokens: 0, costMicroUsd: 0 }, nowMs);
      const { windows: states } = this.limiter.takeNow(windows);
      for (const [at, { name, range }] of this.#limitsOf(scope, policy).entries()) {
        const used = states[at]?.used ?? -1;
        must(
          used >= range.min && used <= range.max,
          `${name} of ${scope}: ${used}, not ${range.min} to ${range.max}`,
        );
      }
      const spent = this.activity.spent(scope);
      const ended = this.calls.filter(({ state, scopes }) => state === 'ended' && scopes.includes(scope));
      const sum = (isIn: (call: Known) => boolean) =>
        ended.filter(isIn).reduce((total, { cost }) => total + (cost ?? 0), 0);
      expect(spent.day).toBe(sum(({ atMs }) => dayOf(atMs) === dayOf(nowMs)));
      expect(spent.month).toBe(sum(({ atMs }) => monthOf(atMs) === monthOf(nowMs)));
    }
  }

  /** Everything is over. */
  async end(): Promise<void> {
    for (const call of [...this.running.keys()]) this.#end(call, 'left');
    await this.#settle();
    this.#check();
  }
}

const add = (range: Range, amount: number): void => {
  range.min += amount;
  range.max += amount;
};
const hourOf = (atMs: number): number => atMs - (atMs % HOUR_MS);
const dayOf = (atMs: number): number => atMs - (atMs % DAY_MS);
const monthOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 7);

/** Until its slot is a window old. */
const slides = (atMs: number, nowMs: number, windowMs: number): boolean => {
  const slotMs = windowMs / 60;
  return Math.floor(nowMs / slotMs) - Math.floor(atMs / slotMs) <= 60;
};

const amountOf = (name: LimitName, tokens: number, cost: number | null, isUsed = true): number =>
  name === 'requests_per_minute' ? Number(isUsed) : name === 'tokens_per_minute' ? tokens : (cost ?? 1);

function must(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}

it.each([false, true])(
  'lets through what there is room for, and no more (a clock set back: %s)',
  async (mayGoBack) => {
    await fc.assert(
      fc.asyncProperty(actsThat(mayGoBack), async (acts) => {
        const run = new Run();
        try {
          await run.start();
          for (const one of acts) await run.apply(one);
          await run.end();
        } catch (error) {
          (error as Error).message += `\n${run.trail.join('\n')}`;
          throw error;
        }
      }),
      modelRuns(60),
    );
  },
  RACES_MS,
);
