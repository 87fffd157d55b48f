/** From the address to a span of time, and the buckets drawn over it. Pure. */
import { LIMITS, type SpendLine } from '#contracts';
import { DAY_MS, HOUR_MS } from '#kernel/duration';
import type { SpendRange, SpendSearch } from './spend-search';

/** Shorter spans are drawn by the hour. */
const HOURLY_MS_MAX = 2 * DAY_MS;

const RANGE_DAYS: Record<Exclude<SpendRange, 'today'>, number> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 };

export interface Span {
  from_ms: number;
  /** Exclusive. */
  to_ms: number;
  bucket: 'hour' | 'day';
  /** It is said in the reader's zone; else in UTC. */
  isLocal?: true;
}

/**
 * Starts at whole hours or UTC days, so that no bucket is cut; ends with the bucket of `nowMs`, or with the last day asked for.
 * Today begins at the reader's midnight, or with the hour in which that lies.
 */
export function spanOf({ range = '7d', from, to }: SpendSearch, nowMs: number): Span {
  if (from !== undefined && to !== undefined) {
    const from_ms = Date.parse(from);
    const to_ms = Date.parse(to) + DAY_MS;
    return { from_ms, to_ms, bucket: to_ms - from_ms <= HOURLY_MS_MAX ? 'hour' : 'day' };
  }
  const to_ms = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS;
  if (range === 'today') {
    const midnightMs = new Date(nowMs).setHours(0, 0, 0, 0);
    const from_ms = Math.floor(midnightMs / HOUR_MS) * HOUR_MS;
    return { from_ms, to_ms, bucket: 'hour', isLocal: true };
  }
  const days = RANGE_DAYS[range];
  if (days === 1) {
    return { from_ms: to_ms - DAY_MS, to_ms, bucket: 'hour' };
  }
  const toDayMs = Math.floor(nowMs / DAY_MS) * DAY_MS + DAY_MS;
  return { from_ms: toDayMs - days * DAY_MS, to_ms: toDayMs, bucket: 'day' };
}

const bucketMs = (bucket: Span['bucket']): number => (bucket === 'hour' ? HOUR_MS : DAY_MS);

export interface Series {
  /** Starts of the buckets, epoch seconds, ascending, without a gap. */
  times: number[];
  /** Known costs. */
  costs: number[];
  /** Whether a bucket has calls of unknown cost, too. */
  haveUnknown: boolean[];
}

/** Buckets without a line cost nothing: they are there, at zero. */
export function seriesOf(lines: readonly SpendLine[], span: Span): Series {
  const step = bucketMs(span.bucket);
  const byStart = new Map(lines.map((line) => [Date.parse(line.key), line]));
  const times: number[] = [];
  const costs: number[] = [];
  const haveUnknown: boolean[] = [];
  for (let at = span.from_ms; at < span.to_ms; at += step) {
    times.push(at / 1_000);
    const line = byStart.get(at);
    costs.push(line?.cost_usd ?? 0);
    haveUnknown.push((line?.unpriced_call_count ?? 0) > 0);
  }
  return { times, costs, haveUnknown };
}

export type SpendTotals = Omit<SpendLine, 'key'>;

export function totalsOf(lines: readonly SpendLine[]): SpendTotals {
  const total: SpendTotals = {
    call_count: 0,
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    cost_usd: 0,
    unpriced_call_count: 0,
  };
  for (const line of lines) {
    for (const name of Object.keys(total) as (keyof SpendTotals)[]) total[name] += line[name];
  }
  return total;
}

/**
 * What the lines leave out of the whole, where there are more than a table takes; null where it takes all of them. The two were
 * read one after the other: never below 0.
 */
export function othersOf(
  whole: SpendTotals,
  lines: readonly SpendLine[],
): Pick<SpendTotals, 'call_count' | 'cost_usd'> | null {
  if (lines.length < LIMITS.spendLinesMax) return null;
  const listed = totalsOf(lines);
  return {
    call_count: Math.max(0, whole.call_count - listed.call_count),
    cost_usd: Math.max(0, whole.cost_usd - listed.cost_usd),
  };
}

/** Most expensive first; equals by calls. Days newest first. */
export const orderLines = (lines: readonly SpendLine[], isByTime: boolean): SpendLine[] =>
  [...lines].sort((a, b) =>
    isByTime ? b.key.localeCompare(a.key) : b.cost_usd - a.cost_usd || b.call_count - a.call_count,
  );

type Zoned = Pick<Span, 'isLocal'>;
const zoneOf = ({ isLocal }: Zoned) => (isLocal ? {} : { timeZone: 'UTC' });

/** "14:00" */
export const hourLabel = (startMs: number, zoned: Zoned): string =>
  new Date(startMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...zoneOf(zoned) });

/** "Sat 31 Jan", or "31 Jan, 14:00" for an hour; in UTC, unless the span is said in the reader's zone. */
export function bucketLabel(startMs: number, span: Pick<Span, 'bucket'> & Zoned): string {
  const at = new Date(startMs);
  const zone = zoneOf(span);
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...zone });
  if (span.bucket === 'hour') return `${day}, ${hourLabel(startMs, span)}`;
  return `${at.toLocaleDateString('en-GB', { weekday: 'short', ...zone })} ${day}`;
}
