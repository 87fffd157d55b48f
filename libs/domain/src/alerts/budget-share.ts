/** How much of its budgets an agent has spent, as far as it is known: a period that has ended since is spent no more. */
import type { BudgetPeriod } from '#contracts';
import { HOUR_MS } from '#kernel';
import type { AlertEvent, BudgetSpend } from './alert-event.js';

/** A budget that goes on refusing is kept anew this often, not with each call. Days and months begin with a new one. */
const REFUSAL_KEPT_EVERY_MS = 5 * 60_000;

/** What people have heard once they were told that a budget refuses calls: more than that little of it is left. */
export const REFUSAL = 'refusal';

/** One budget as it was told last. */
export interface BudgetUse extends BudgetSpend {
  at_ms: number;
  /** When it last had no room for a call; null: never since it is what it is. */
  refused_at_ms: number | null;
}

/** A smaller call that goes through later makes no room: a refusal stands for its period, unless the budget is changed. */
export const noteSpend = (
  before: readonly BudgetUse[],
  { budgets, refused, at_ms }: AlertEvent & { kind: 'spend' },
): BudgetUse[] =>
  budgets.map(({ period, spent_usd, budget_usd }) => {
    const same = before.find((use) => use.period === period && use.budget_usd === budget_usd);
    const refused_at_ms = refused === period ? at_ms : (same?.refused_at_ms ?? null);
    // Each field by name: with every call, and a spread with a field that is null or a time is a slow one.
    return { period, spent_usd, budget_usd, at_ms, refused_at_ms };
  });

/** False where as good as the same is known already: a call was refused by it in these five minutes. */
export function isRefusalNews(
  before: readonly BudgetUse[],
  { refused, at_ms }: AlertEvent & { kind: 'spend' },
): boolean {
  if (refused === null) return false;
  const known = before.find(({ period }) => period === refused)?.refused_at_ms ?? Number.NEGATIVE_INFINITY;
  return Math.floor(known / REFUSAL_KEPT_EVERY_MS) !== Math.floor(at_ms / REFUSAL_KEPT_EVERY_MS);
}

/** What was told before the clock was set back counts as told now: as in the limiter, it is spent of the period that this is. */
export const budgetsAsOf = (nowMs: number, uses: readonly BudgetUse[]): readonly BudgetUse[] =>
  uses.some(({ at_ms, refused_at_ms }) => Math.max(at_ms, refused_at_ms ?? 0) > nowMs)
    ? uses.map(({ at_ms, refused_at_ms, ...use }) => ({
        ...use,
        at_ms: Math.min(at_ms, nowMs),
        refused_at_ms: refused_at_ms && Math.min(refused_at_ms, nowMs),
      }))
    : uses;

/** @returns false once the period that this moment was in is over: a sliding hour, a calendar day or month in UTC */
function isCurrent(period: BudgetPeriod, atMs: number, nowMs: number): boolean {
  if (period === 'hour') return nowMs - atMs < HOUR_MS;
  const [then, now] = [new Date(atMs), new Date(nowMs)];
  const isSameMonth =
    then.getUTCFullYear() === now.getUTCFullYear() && then.getUTCMonth() === now.getUTCMonth();
  return isSameMonth && (period === 'month' || then.getUTCDate() === now.getUTCDate());
}

export interface BudgetShare extends BudgetSpend {
  /** 0..1, and above where more was spent than allowed. */
  share: number;
  /** It had no room for a call of this period. */
  refused: boolean;
}

/** The budget nearest to its end, one that refuses calls before all others; null without any. */
export function fullestBudget(uses: Iterable<BudgetUse>, nowMs: number): BudgetShare | null {
  let fullest: BudgetShare | null = null;
  for (const { period, spent_usd, budget_usd, at_ms, refused_at_ms } of uses) {
    if (!(budget_usd > 0)) continue;
    const spentUsd = isCurrent(period, at_ms, nowMs) ? spent_usd : 0;
    const share = spentUsd / budget_usd;
    const refused = refused_at_ms !== null && isCurrent(period, refused_at_ms, nowMs);
    if (fullest === null || isFuller({ share, refused }, fullest))
      fullest = { period, spent_usd: spentUsd, budget_usd, share, refused };
  }
  return fullest;
}

type Fullness = Pick<BudgetShare, 'share' | 'refused'>;

const isFuller = (a: Fullness, b: Fullness): boolean =>
  a.refused === b.refused ? a.share > b.share : a.refused;
