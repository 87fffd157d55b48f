/** What the Spend page shows, in the address. Days are UTC, as budgets are; today alone is the reader's own. */
import { dropAbsent, oneOf, textOf } from '../../app/search-values';

export const SPEND_RANGES = ['today', '24h', '7d', '30d', '90d'] as const;
export type SpendRange = (typeof SPEND_RANGES)[number];

const SPEND_TABLES = ['agent', 'model', 'day'] as const;
export type SpendTable = (typeof SPEND_TABLES)[number];

export interface SpendSearch {
  /** Absent: 7 days. Ignored when `from` and `to` are there. */
  range?: SpendRange;
  /** Days of a range of one's own, such as 2026-01-31; `to` is its last day. */
  from?: string;
  to?: string;
  /** Absent: agent. */
  by?: SpendTable;
  agent?: string;
  model?: string;
}

const dayOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined;

export function parseSpendSearch(search: Record<string, unknown>): SpendSearch {
  const from = dayOf(search.from);
  const to = dayOf(search.to);
  const hasDays = from !== undefined && to !== undefined && from <= to;
  return dropAbsent({
    range: oneOf(SPEND_RANGES, search.range),
    from: hasDays ? from : undefined,
    to: hasDays ? to : undefined,
    by: oneOf(SPEND_TABLES, search.by),
    agent: textOf(search.agent),
    model: textOf(search.model),
  }) as SpendSearch;
}
