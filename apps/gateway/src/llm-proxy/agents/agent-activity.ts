/** What proxied agents are doing right now, and what they have spent: small counters, bounded, for people to look at. */
import { type AgentPolicy, type AgentScope, type CallRefusal, splitAgentScope, tenantIdOf } from '#contracts';
import type { BudgetSpend } from '#domain/alerts';
import { BUDGETS, type BudgetName, type SpentHour } from '#domain/policy';
import { type Clock, DAY_MS, FairLru, HOUR_MS, MINUTE_MS } from '#kernel';

type Budgets = Pick<AgentPolicy, BudgetName>;

export const hasBudget = (policy: Budgets): boolean => BUDGETS.some((name) => policy[name] !== null);

/** Over all tenants; the one that has most gives way. */
const AGENT_COUNT_MAX = 20_000;
const AGENT_IDLE_MS = 32 * DAY_MS;
const BUCKET_MS = 10_000;
/** Five minutes. */
const BUCKET_COUNT = 30;
const MINUTE_BUCKETS = MINUTE_MS / BUCKET_MS;
/** In which something was spent: of a whole month, and the last of the month before. */
const HOURS_KEPT_MAX = 31 * 24 + 1;

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
  /** By the start of the hour, the latest. By number: a clock that is ahead for a while would have the month's thrown away. */
  hours: Map<number, HourSpend>;
  /** Of `hours`, so that a month of them is not summed up with each call; null: to be summed up. */
  totals: Totals | null;
  /** By the start of the minute, the last 60 and the one under way: what this process saw. */
  minutes: Map<number, Spend>;
}

interface Spend {
  costMicroUsd: number;
  /** Calls whose cost is unknown. */
  unpricedCount: number;
}

/** Of one UTC day, and the month that it is in. */
interface Totals {
  dayStart: number;
  day: Spend;
  month: Spend;
}

interface HourSpend extends Spend {
  /** Of it, what was brought back from the store, which knows the hour alone. */
  restored: Spend;
}

/**
 * The last 60 minutes, this UTC day, this UTC month. It is what was spent, to the minute; only of the older hour's sum that a start
 * brought back its share counts. The limiter, which refuses, estimates its hour: of two clock hours, the older by its share.
 */
type BySpan = Record<'hour' | 'day' | 'month', number>;

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

export class AgentActivity {
  readonly #clock: Clock;
  readonly #agents: FairLru<AgentScope, Activity>;
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
    if (costMicroUsd !== 0) this.#spend(activity, spentAtMs, costMicroUsd);
  }

  /** An agent may have spent more than is known here, since there was no room for all of them. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** Brings back what is stored of one hour, as far as it is more than is known. */
  restore(scope: AgentScope, hourMs: number, costMicroUsd: number, unpricedCount = 0): void {
    const activity = this.#of(scope);
    activity.totals = null;
    const spend = hourOf(activity.hours, hourMs);
    const more: Spend = {
      costMicroUsd: Math.max(0, costMicroUsd - spend.costMicroUsd),
      unpricedCount: Math.max(0, unpricedCount - spend.unpricedCount),
    };
    add(spend, more);
    add(spend.restored, more);
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
    const { hour, ...longer } = this.#sum(scope, ({ costMicroUsd }) => costMicroUsd);
    return { hour: Math.round(hour), ...longer };
  }

  /** Micro-USD, were all that a start brought back of the clock hour before spent at its end. */
  spentInHourAtMost(scope: AgentScope): number {
    const nowMs = this.#nowMs();
    const thisHour = hourStartMs(nowMs);
    const older = this.#agents.peek(tenantIdOf(scope), scope)?.hours.get(thisHour - HOUR_MS);
    const passed = (older?.restored.costMicroUsd ?? 0) * ((nowMs - thisHour) / HOUR_MS);
    return this.spent(scope).hour + Math.round(passed);
  }

  /** Calls of unknown cost. */
  unpriced(scope: AgentScope): BySpan {
    const { hour, ...longer } = this.#sum(scope, ({ unpricedCount }) => unpricedCount);
    return { hour: Math.ceil(hour), ...longer };
  }

  #sum(scope: AgentScope, of: (spend: Spend) => number): BySpan {
    const nowMs = this.#nowMs();
    const activity = this.#agents.peek(tenantIdOf(scope), scope);
    if (activity === undefined) return { hour: 0, day: 0, month: 0 };
    const { hours, minutes } = activity;
    const thisHour = hourStartMs(nowMs);
    const share = 1 - (nowMs - thisHour) / HOUR_MS;
    const restoredIn = (hourMs: number): number => {
      const spend = hours.get(hourMs);
      return spend === undefined ? 0 : of(spend.restored);
    };
    let hour = restoredIn(thisHour) + restoredIn(thisHour - HOUR_MS) * share;
    const fromMs = oldestMinuteMs(nowMs);
    for (const [minuteMs, spend] of minutes) if (minuteMs >= fromMs) hour += of(spend);
    const { day, month } = totalsOf(activity, nowMs);
    return { hour, day: of(day), month: of(month) };
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
  *hours(scope: AgentScope): Generator<SpentHour> {
    for (const [hourMs, { costMicroUsd }] of this.#agents.peek(tenantIdOf(scope), scope)?.hours ?? [])
      if (costMicroUsd > 0) yield { hourMs, costMicroUsd };
  }

  /** Also while its first call is under way. */
  has(scope: AgentScope): boolean {
    return this.#agents.peek(tenantIdOf(scope), scope) !== undefined;
  }

  *known(tenantId: string): Generator<string> {
    for (const [scope] of this.#agents.entries(tenantId)) yield splitAgentScope(scope).agentId;
  }

  #spend(activity: Activity, spentAtMs: number, costMicroUsd: number | null): void {
    const { hours, minutes, totals } = activity;
    const nowMs = this.#nowMs();
    const atMs = Math.min(spentAtMs, nowMs);
    const spend: Spend = { costMicroUsd: costMicroUsd ?? 0, unpricedCount: costMicroUsd === null ? 1 : 0 };
    add(hourOf(hours, hourStartMs(atMs)), spend);
    if (totals !== null) addToTotals(totals, atMs, spend);
    if (hours.size > HOURS_KEPT_MAX) {
      hours.delete(Math.min(...hours.keys()));
      activity.totals = null;
    }
    const fromMs = oldestMinuteMs(nowMs);
    const minuteMs = minuteOf(atMs);
    if (minuteMs < fromMs) return;
    if (!minutes.has(minuteMs)) for (const old of minutes.keys()) if (old < fromMs) minutes.delete(old);
    addTo(minutes, minuteMs, spend);
  }

  #nowMs(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#latestMs - MINUTE_MS) this.#setBackTo(nowMs);
    this.#latestMs = nowMs;
    return nowMs;
  }

  /** Of each agent what was stamped before the clock was set back counts as of now; else it would until that time came. O(agents) */
  #setBackTo(nowMs: number): void {
    const bucketNow = Math.floor(nowMs / BUCKET_MS);
    for (const [, activity] of this.#agents.entries()) {
      for (const bucket of activity.buckets) bucket.at = Math.min(bucket.at, bucketNow);
      activity.totals = null;
      for (const [hourMs, spend] of [...activity.hours]) {
        if (hourMs <= nowMs) continue;
        activity.hours.delete(hourMs);
        const hour = hourOf(activity.hours, hourStartMs(nowMs));
        add(hour, spend);
        add(hour.restored, spend.restored);
      }
      for (const [minuteMs, spend] of [...activity.minutes]) {
        if (minuteMs <= nowMs) continue;
        activity.minutes.delete(minuteMs);
        addTo(activity.minutes, minuteOf(nowMs), spend);
      }
    }
  }

  #of(scope: AgentScope): Activity {
    const known = this.#agents.get(tenantIdOf(scope), scope);
    if (known !== undefined) return known;
    const fresh: Activity = {
      lastCallMs: null,
      latestRefusal: null,
      runningCount: 0,
      buckets: [],
      hours: new Map(),
      totals: null,
      minutes: new Map(),
    };
    this.#agents.set(tenantIdOf(scope), scope, fresh);
    return fresh;
  }
}

function add(to: Spend, { costMicroUsd, unpricedCount }: Spend): void {
  to.costMicroUsd += costMicroUsd;
  to.unpricedCount += unpricedCount;
}

function addTo(minutes: Activity['minutes'], minuteMs: number, spend: Spend): void {
  const known = minutes.get(minuteMs);
  if (known === undefined) minutes.set(minuteMs, spend);
  else add(known, spend);
}

const dayStartMs = (atMs: number): number => atMs - (atMs % DAY_MS);

function totalsOf(activity: Activity, nowMs: number): Totals {
  const dayStart = dayStartMs(nowMs);
  if (activity.totals?.dayStart === dayStart) return activity.totals;
  const totals: Totals = { dayStart, day: nothing(), month: nothing() };
  for (const [hourMs, spend] of activity.hours) addToTotals(totals, hourMs, spend);
  activity.totals = totals;
  return totals;
}

function addToTotals({ dayStart, day, month }: Totals, atMs: number, spend: Spend): void {
  if (dayStartMs(atMs) === dayStart) add(day, spend);
  if (monthStartMs(atMs) === monthStartMs(dayStart)) add(month, spend);
}

const nothing = (): Spend => ({ costMicroUsd: 0, unpricedCount: 0 });

const hourStartMs = (atMs: number): number => atMs - (atMs % HOUR_MS);

const minuteOf = (atMs: number): number => atMs - (atMs % MINUTE_MS);

/** The last one of which a part lies within 60 minutes. */
const oldestMinuteMs = (nowMs: number): number => minuteOf(nowMs) - HOUR_MS;

function hourOf(hours: Map<number, HourSpend>, hourMs: number): HourSpend {
  const known = hours.get(hourMs);
  if (known !== undefined) return known;
  const fresh: HourSpend = {
    costMicroUsd: 0,
    unpricedCount: 0,
    restored: nothing(),
  };
  hours.set(hourMs, fresh);
  return fresh;
}

export const monthStartMs = (nowMs: number): number => {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
};
