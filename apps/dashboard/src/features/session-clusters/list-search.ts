/** The session list's state in the address: a link shows a colleague exactly what you see. Unknown values fall away. */
import { SEVERITIES, type Severity } from '#contracts';

const SORTS = ['severity', 'last_seen', 'started', 'steps_per_minute', 'cost'] as const;
export type Sort = (typeof SORTS)[number];

const CONTROL_FILTERS = [
  'active',
  'paused',
  'waiting',
  'terminated',
  'enforced',
  'cooperative',
  'observe_only',
] as const;
export type ControlFilter = (typeof CONTROL_FILTERS)[number];

const ENDED_FILTERS = ['live', 'ended'] as const;
export type EndedFilter = (typeof ENDED_FILTERS)[number];

export interface ListSearch {
  q?: string;
  severity?: Severity;
  control?: ControlFilter;
  agent?: string;
  /** Absent: both. */
  ended?: EndedFilter;
  /** Absent: severity. */
  sort?: Sort;
  /** Grouped by cluster_id. */
  group?: true;
}

/** Never throws; a number in the address (an id such as 42) is read as text. */
export function parseListSearch(search: Record<string, unknown>): ListSearch {
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;
  const oneOf = <V extends string>(values: readonly V[], value: unknown): V | undefined =>
    values.find((known) => known === value);
  const parsed: ListSearch = {
    q: text(search.q),
    severity: oneOf(SEVERITIES, search.severity),
    control: oneOf(CONTROL_FILTERS, search.control),
    agent: text(search.agent),
    ended: oneOf(ENDED_FILTERS, search.ended),
    sort: oneOf(SORTS, search.sort),
    group: search.group === true || search.group === 'true' ? true : undefined,
  };
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== undefined));
}

/** Whether anything narrows the list. Sort and grouping do not. */
export const isFiltered = (search: ListSearch): boolean =>
  Boolean(search.q || search.severity || search.control || search.agent || search.ended);
