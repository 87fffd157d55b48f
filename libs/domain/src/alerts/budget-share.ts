/** How much of its budgets an agent has spent, as far as it is known: a period that has ended since is spent no more. */
import type { BudgetSpend } from './alert-event.js';

const HOUR_MS = 3_600_000;

/** One budget as it was told last. */
export interface BudgetUse extends BudgetSpend {
  at_ms: number;
}

/** @returns false once the period in which this was spent is over: a sliding hour, a calendar day or month in UTC */
function isCurrent({ period, at_ms }: BudgetUse, nowMs: number): boolean {
  if (period === 'hour') return nowMs - at_ms < HOUR_MS;
  const [spent, now] = [new Date(at_ms), new Date(nowMs)];
  const isSameMonth =
    spent.getUTCFullYear() === now.getUTCFullYear() && spent.getUTCMonth() === now.getUTCMonth();
  return isSameMonth && (period === 'month' || spent.getUTCDate() === now.getUTCDate());
}

export interface BudgetShare extends BudgetUse {
  /** 0..1, and above where more was spent than allowed. */
  share: number;
}

/** The budget nearest to its end; null without any. */
export function fullestBudget(uses: Iterable<BudgetUse>, nowMs: number): BudgetShare | null {
  let fullest: BudgetShare | null = null;
  for (const use of uses) {
    if (!(use.budget_usd > 0)) continue;
    const spentUsd = isCurrent(use, nowMs) ? use.spent_usd : 0;
    const share = spentUsd / use.budget_usd;
    if (fullest === null || share > fullest.share) fullest = { ...use, spent_usd: spentUsd, share };
  }
  return fullest;
}
