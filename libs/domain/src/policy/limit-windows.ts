/**
 * A policy's limits as the windows a limiter counts: requests and tokens of the last minute, money of the last hour,
 * of this UTC day and of this UTC month. Money is in micro-USD, so that every sum is a whole number.
 */
import {
  type AgentLimits,
  type AgentScope,
  type BucketChange,
  type LimitWindow,
  NO_LIMITS,
} from '#contracts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';
import { bucketStart } from './slot-arithmetic.js';

export const LIMIT_NAMES = [
  'requests_per_minute',
  'tokens_per_minute',
  'budget_hour',
  'budget_day',
  'budget_month',
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Of a policy's limits those in money. */
export const BUDGETS = ['budget_hour_usd', 'budget_day_usd', 'budget_month_usd'] as const;
export type BudgetName = (typeof BUDGETS)[number];

/** A window that knows which limit it stands for. */
export interface NamedWindow extends LimitWindow {
  name: LimitName;
}

/** What a call will use, before it is sent. */
export interface LimitEstimate {
  /** 1 for a call; 0 to look. */
  requests: number;
  /** Input and output. */
  tokens: number;
  /** Micro-USD; null: unknown, and takes `UNKNOWN_COST_MICRO_USD` from a budget. */
  costMicroUsd: number | null;
}

/** Of a call under way. Next to nothing, and yet more than is left of a budget that is spent. */
export const UNKNOWN_COST_MICRO_USD = 1;

/** What it did use. Null or absent: unknown, and the estimate stands. */
export interface RealUsage {
  requests?: number | null;
  tokens?: number | null;
  costMicroUsd?: number | null;
}

/** One agent's money in one UTC hour. */
export interface SpentHour {
  hourMs: number;
  costMicroUsd: number;
}

const MICRO = 1_000_000;

/** Keys of agents kept ready, so that a call does not build and hash them anew; beyond it all are forgotten. */
const KEYED_AGENTS_MAX = 10_000;
const keysByAgent = new Map<string, Record<LimitName, string>>();

/** Hot path. One window for each limit that is set, in the order of LIMIT_NAMES; none for a policy without limits. */
export function limitWindows(
  agent: AgentScope,
  limits: AgentLimits,
  estimate: LimitEstimate,
  nowMs: number,
): NamedWindow[] {
  const keys = keysOf(agent);
  const windows: NamedWindow[] = [];
  const { requests, tokens, costMicroUsd } = estimate;
  const cost = costMicroUsd ?? UNKNOWN_COST_MICRO_USD;
  if (limits.requests_per_minute !== null)
    windows.push(sliding(keys, 'requests_per_minute', limits.requests_per_minute, requests, MINUTE_MS));
  if (limits.tokens_per_minute !== null)
    windows.push(sliding(keys, 'tokens_per_minute', limits.tokens_per_minute, tokens, MINUTE_MS));
  if (limits.budget_hour_usd !== null)
    windows.push(sliding(keys, 'budget_hour', toMicroUsd(limits.budget_hour_usd), cost, HOUR_MS));
  if (limits.budget_day_usd !== null) {
    const limit = toMicroUsd(limits.budget_day_usd);
    windows.push(calendar(keys, 'budget_day', limit, cost, dayStartMs(nowMs), DAY_MS));
  }
  if (limits.budget_month_usd !== null) {
    const limit = toMicroUsd(limits.budget_month_usd);
    const { startMs, endMs } = monthOf(nowMs);
    windows.push(calendar(keys, 'budget_month', limit, cost, startMs, endMs - startMs));
  }
  return windows;
}

/**
 * What the limiter must be told once a call is over: the difference to what was taken, for the time it was taken
 * from, whatever day it is by now. Empty when the estimate was right.
 * @param windows as they were taken
 * @param takenAtMs `LimitDecision.atMs`; absent: sliding windows are corrected in the slot of now
 */
export function corrections(
  windows: readonly NamedWindow[],
  real: RealUsage,
  takenAtMs?: number,
): BucketChange[] {
  const changes: BucketChange[] = [];
  for (const { name, key, kind, windowMs, startMs, amount } of windows) {
    const used =
      name === 'requests_per_minute'
        ? real.requests
        : name === 'tokens_per_minute'
          ? real.tokens
          : real.costMicroUsd;
    if (used === null || used === undefined || used === amount) continue;
    const change: BucketChange = { key, kind, windowMs, amount: used - amount };
    if (kind === 'calendar') change.startMs = startMs;
    else if (takenAtMs !== undefined) change.takenAtMs = takenAtMs;
    changes.push(change);
  }
  return changes;
}

/**
 * Budgets as they stand by stored sums: after a restart of a limiter in memory, after Redis lost its data, and when a
 * budget is set in the middle of its period. May be repeated. Requests and tokens of the last minute are not restored.
 * Of what is no budget nothing is said: calls under way, which may be among the sums, would give nothing of it back.
 * @param spent one agent's money by the UTC hour, micro-USD; hours that no window counts are ignored
 */
export function budgetSeeds(
  agent: AgentScope,
  limits: AgentLimits,
  spent: Iterable<SpentHour>,
  nowMs: number,
): BucketChange[] {
  const keys = keysOf(agent);
  const hourStartMs = bucketStart(nowMs, HOUR_MS);
  const dayMs = dayStartMs(nowMs);
  const { startMs: monthMs, endMs } = monthOf(nowMs);
  let hour = 0;
  let hourBefore = 0;
  let day = 0;
  let month = 0;
  for (const { hourMs, costMicroUsd } of spent) {
    if (hourMs === hourStartMs) hour += costMicroUsd;
    if (hourMs === hourStartMs - HOUR_MS) hourBefore += costMicroUsd;
    if (hourMs >= dayMs && hourMs < dayMs + DAY_MS) day += costMicroUsd;
    if (hourMs >= monthMs && hourMs < endMs) month += costMicroUsd;
  }
  if (limits.budget_hour_usd === null) hour = hourBefore = 0;
  if (limits.budget_day_usd === null) day = 0;
  if (limits.budget_month_usd === null) month = 0;
  const slidingHour = { key: keys.budget_hour, kind: 'sliding', windowMs: HOUR_MS } as const;
  const seeds: BucketChange[] = [
    { ...slidingHour, takenAtMs: hourStartMs, amount: hour },
    { ...slidingHour, takenAtMs: hourStartMs - HOUR_MS, amount: hourBefore },
    { key: keys.budget_day, kind: 'calendar', startMs: dayMs, windowMs: DAY_MS, amount: day },
    { key: keys.budget_month, kind: 'calendar', startMs: monthMs, windowMs: endMs - monthMs, amount: month },
  ];
  return seeds.filter(({ amount }) => amount > 0);
}

/** The budgets alone that are there now and were not before. Another amount makes no other budget. */
export function budgetsSetSince(before: AgentLimits, now: AgentLimits): AgentLimits {
  const limits = { ...NO_LIMITS };
  for (const name of BUDGETS) if (before[name] === null) limits[name] = now[name];
  return limits;
}

const { allowed_hours: _hours, allowed_models: _models, ...UNCOUNTED } = NO_LIMITS;
const COUNTED = Object.keys(UNCOUNTED) as (keyof typeof UNCOUNTED)[];

/** Both count the same, each up to the same amount, whatever else they say. */
export const countAlike = (a: AgentLimits, b: AgentLimits): boolean =>
  COUNTED.every((name) => a[name] === b[name]);

/** Whole micro-USD, to the nearest. */
export const toMicroUsd = (usd: number): number => Math.round(usd * MICRO);

const dayStartMs = (nowMs: number): number => bucketStart(nowMs, DAY_MS);

let month = { startMs: 0, endMs: 0 };

/** The UTC month around `nowMs`; remembers the latest, which is the one asked for. */
function monthOf(nowMs: number): { startMs: number; endMs: number } {
  if (nowMs < month.startMs || nowMs >= month.endMs) {
    const at = new Date(nowMs);
    const year = at.getUTCFullYear();
    month = { startMs: Date.UTC(year, at.getUTCMonth(), 1), endMs: Date.UTC(year, at.getUTCMonth() + 1, 1) };
  }
  return month;
}

function keysOf(agent: AgentScope): Record<LimitName, string> {
  const known = keysByAgent.get(agent);
  if (known !== undefined) return known;
  if (keysByAgent.size >= KEYED_AGENTS_MAX) keysByAgent.clear();
  const keys = {} as Record<LimitName, string>;
  // NUL ends the owner: see LimitWindow.key.
  for (const name of LIMIT_NAMES) keys[name] = `${agent}\0${name}`;
  keysByAgent.set(agent, keys);
  return keys;
}

const sliding = (
  keys: Record<LimitName, string>,
  name: LimitName,
  limit: number,
  amount: number,
  windowMs: number,
): NamedWindow => ({ name, key: keys[name], kind: 'sliding', limit, amount, windowMs, startMs: undefined });

const calendar = (
  keys: Record<LimitName, string>,
  name: LimitName,
  limit: number,
  amount: number,
  startMs: number,
  windowMs: number,
): NamedWindow => ({ name, key: keys[name], kind: 'calendar', limit, amount, windowMs, startMs });
