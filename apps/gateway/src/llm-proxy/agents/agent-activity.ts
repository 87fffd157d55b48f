/** What proxied agents are doing right now, and what they have spent: small counters, bounded, for people to look at. */
import {
  type AgentPolicy,
  type AgentScope,
  type CallRefusal,
  isAllAgents,
  splitAgentScope,
  tenantIdOf,
} from '#contracts';
import type { BudgetSpend } from '#domain/alerts';
import { BUDGETS, type BudgetName, type SpentHour } from '#domain/policy';
import { type Clock, DAY_MS, FairLru, MINUTE_MS } from '#kernel';
import { type BySpan, SpentLately } from './spent-lately.js';

type Budgets = Pick<AgentPolicy, BudgetName>;

export const hasBudget = (policy: Budgets): boolean => BUDGETS.some((name) => policy[name] !== null);

/** Over all tenants; the one that has most gives way. */
const AGENT_COUNT_MAX = 20_000;
const AGENT_IDLE_MS = 32 * DAY_MS;
const BUCKET_MS = 10_000;
/** Five minutes. */
const BUCKET_COUNT = 30;
const MINUTE_BUCKETS = MINUTE_MS / BUCKET_MS;
interface Bucket {
  /** Start, in units of BUCKET_MS. Two may have one, where the clock was set back. */
  at: number;
  calls: number;
  errors: number;
  refusals: number;
}

interface Activity {
  lastCallMs: number | null;
  latestRefusal: CallRefusal | null;
  runningCount: number;
  buckets: Bucket[];
  spent: SpentLately;
}

export interface ActivityView {
  lastCallMs: number | null;
  callsPerMinute: number;
  errorRate: number | null;
  refusalRate: number | null;
  latestRefusal: CallRefusal | null;
  runningCount: number;
}

const NO_ACTIVITY: Readonly<ActivityView> = {
  lastCallMs: null,
  callsPerMinute: 0,
  errorRate: null,
  refusalRate: null,
  latestRefusal: null,
  runningCount: 0,
};

export interface EndedCall {
  isError: boolean;
  /** Null: it was not refused. */
  refusal: Omit<CallRefusal, 'at_ms'> | null;
  /** Null: unknown. Below 0: so much of what was counted is taken back. */
  costMicroUsd: number | null;
  /** In whose hour that counts, epoch ms. */
  spentAtMs: number;
}

const NOTHING_SPENT = new SpentLately();

/** `hourAtMost`: were all that a start brought back of the clock hour before spent at its end. */
type SpentAtMost = BySpan & { hourAtMost: number };

const atMost = (spent: SpentLately, nowMs: number): SpentAtMost => ({
  ...spent.costMicroUsd(nowMs),
  hourAtMost: spent.inHourAtMost(nowMs),
});

export class AgentActivity {
  readonly #clock: Clock;
  readonly #agents: FairLru<AgentScope, Activity>;
  /** All agents of a tenant, forgotten ones among them. */
  readonly #byTenant = new Map<string, SpentLately>();
  #hasForgotten = false;
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#agents = new FairLru({
      countMax: AGENT_COUNT_MAX,
      idleMs: AGENT_IDLE_MS,
      clock,
      onEvict: (_scope, _activity, reason) => {
        if (reason === 'capacity') this.#hasForgotten = true;
      },
    });
  }

  begin(scope: AgentScope): void {
    this.#of(scope).runningCount += 1;
  }

  end(scope: AgentScope, { isError, refusal, costMicroUsd, spentAtMs }: EndedCall): void {
    const nowMs = this.#nowMs();
    const activity = this.#of(scope);
    activity.runningCount = Math.max(0, activity.runningCount - 1);
    activity.lastCallMs = nowMs;
    const at = Math.floor(nowMs / BUCKET_MS);
    let bucket = activity.buckets.at(-1);
    if (bucket === undefined || bucket.at !== at) {
      bucket = { at, calls: 0, errors: 0, refusals: 0 };
      activity.buckets.push(bucket);
      if (activity.buckets.length > BUCKET_COUNT) activity.buckets.shift();
    }
    bucket.calls += 1;
    if (isError) bucket.errors += 1;
    if (refusal !== null) {
      bucket.refusals += 1;
      activity.latestRefusal = { ...refusal, at_ms: nowMs };
    }
    if (costMicroUsd === 0) return;
    activity.spent.add(nowMs, spentAtMs, costMicroUsd);
    this.#together(tenantIdOf(scope)).add(nowMs, spentAtMs, costMicroUsd);
  }

  /** An agent may have spent more than is known here, since there was no room for all of them. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** Brings back what is stored of one hour, as far as it is more than is known. */
  restore(scope: AgentScope, hourMs: number, costMicroUsd: number, unpricedCount = 0): void {
    const spent = isAllAgents(scope) ? this.#together(tenantIdOf(scope)) : this.#of(scope).spent;
    spent.restore(hourMs, costMicroUsd, unpricedCount);
  }

  /** Adds what one agent had spent in one hour before anybody counted to what all spent together; once. */
  bringBackTogether(tenantId: string, hourMs: number, costMicroUsd: number, unpricedCount: number): void {
    this.#together(tenantId).bringBack(hourMs, costMicroUsd, unpricedCount);
  }

  view(scope: AgentScope): ActivityView {
    const activity = this.#agents.peek(tenantIdOf(scope), scope);
    if (activity === undefined) return NO_ACTIVITY;
    const now = Math.floor(this.#nowMs() / BUCKET_MS);
    let minute = 0;
    let calls = 0;
    let errors = 0;
    let refusals = 0;
    for (const bucket of activity.buckets) {
      if (bucket.at <= now - BUCKET_COUNT) continue;
      calls += bucket.calls;
      errors += bucket.errors;
      refusals += bucket.refusals;
      if (bucket.at > now - MINUTE_BUCKETS) minute += bucket.calls;
    }
    return {
      lastCallMs: activity.lastCallMs,
      callsPerMinute: minute,
      errorRate: calls === 0 ? null : errors / calls,
      refusalRate: calls === 0 ? null : refusals / calls,
      latestRefusal: activity.latestRefusal,
      runningCount: activity.runningCount,
    };
  }

  lastCall(scope: AgentScope): { lastCallMs: number | null; isRefused: boolean } {
    const { lastCallMs, latestRefusal } = this.#agents.peek(tenantIdOf(scope), scope) ?? NO_ACTIVITY;
    return { lastCallMs, isRefused: latestRefusal !== null && latestRefusal.at_ms === lastCallMs };
  }

  /** Micro-USD, as far as it is known. */
  spent(scope: AgentScope): BySpan {
    const nowMs = this.#nowMs();
    return this.#spentBy(scope).costMicroUsd(nowMs);
  }

  /** Micro-USD. */
  spentLately(scope: AgentScope): SpentAtMost {
    return atMost(this.#spentBy(scope), this.#nowMs());
  }

  /** Calls of unknown cost. */
  unpriced(scope: AgentScope): BySpan {
    const nowMs = this.#nowMs();
    return this.#spentBy(scope).unpricedCount(nowMs);
  }

  /** What was spent of each budget that the policy sets; empty where it sets none. */
  budgets(scope: AgentScope, policy: Budgets): BudgetSpend[] {
    const spent = this.spent(scope);
    const budgets: BudgetSpend[] = [];
    const add = (period: BudgetSpend['period'], budget_usd: number | null) => {
      if (budget_usd !== null) budgets.push({ period, spent_usd: spent[period] / 1e6, budget_usd });
    };
    add('hour', policy.budget_hour_usd);
    add('day', policy.budget_day_usd);
    add('month', policy.budget_month_usd);
    return budgets;
  }

  /** What was spent, by the UTC hour. */
  hours(scope: AgentScope): Iterable<SpentHour> {
    return this.#spentBy(scope).hours();
  }

  /** Also while its first call is under way. */
  has(scope: AgentScope): boolean {
    return this.#agents.peek(tenantIdOf(scope), scope) !== undefined;
  }

  *known(tenantId: string): Generator<string> {
    for (const [scope] of this.#agents.entries(tenantId)) yield splitAgentScope(scope).agentId;
  }

  #together(tenantId: string): SpentLately {
    let spent = this.#byTenant.get(tenantId);
    if (spent === undefined) {
      spent = new SpentLately();
      this.#byTenant.set(tenantId, spent);
    }
    return spent;
  }

  /** By all agents together, those among them that are forgotten. */
  #spentBy(scope: AgentScope): SpentLately {
    const tenantId = tenantIdOf(scope);
    const spent = isAllAgents(scope)
      ? this.#byTenant.get(tenantId)
      : this.#agents.peek(tenantId, scope)?.spent;
    return spent ?? NOTHING_SPENT;
  }

  #nowMs(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#latestMs - MINUTE_MS) this.#setBackTo(nowMs);
    this.#latestMs = nowMs;
    return nowMs;
  }

  /** What was stamped before the clock was set back counts as of now; else it would until that time came. O(agents) */
  #setBackTo(nowMs: number): void {
    const bucketNow = Math.floor(nowMs / BUCKET_MS);
    for (const [, { buckets, spent }] of this.#agents.entries()) {
      for (const bucket of buckets) bucket.at = Math.min(bucket.at, bucketNow);
      spent.setBackTo(nowMs);
    }
    for (const spent of this.#byTenant.values()) spent.setBackTo(nowMs);
  }

  #of(scope: AgentScope): Activity {
    const known = this.#agents.get(tenantIdOf(scope), scope);
    if (known !== undefined) return known;
    const fresh: Activity = {
      lastCallMs: null,
      latestRefusal: null,
      runningCount: 0,
      buckets: [],
      spent: new SpentLately(),
    };
    this.#agents.set(tenantIdOf(scope), scope, fresh);
    return fresh;
  }
}
