import { describe, expect, it } from 'vitest';
import { LIMITS, type SpendLine } from '#contracts';
import { bucketLabel, orderLines, othersOf, seriesOf, spanOf, totalsOf } from './spend-range';
import { parseSpendSearch } from './spend-search';

const NOW = Date.UTC(2026, 0, 31, 14, 20);
const line = (key: string, cost_usd: number, over: Partial<SpendLine> = {}): SpendLine => ({
  key,
  call_count: 1,
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: 5,
  reasoning_tokens: 0,
  cost_usd,
  unpriced_call_count: 0,
  ...over,
});

describe('spanOf', () => {
  it('holds whole UTC days up to today', () => {
    expect(spanOf({}, NOW)).toEqual({
      from_ms: Date.UTC(2026, 0, 25),
      to_ms: Date.UTC(2026, 1, 1),
      bucket: 'day',
    });
  });

  it('holds the last 24 hours by the hour, the present one included', () => {
    expect(spanOf({ range: '24h' }, NOW)).toEqual({
      from_ms: Date.UTC(2026, 0, 30, 15),
      to_ms: Date.UTC(2026, 0, 31, 15),
      bucket: 'hour',
    });
  });

  it('holds today from the reader’s midnight on, up to the present hour', () => {
    const midnightMs = new Date(2026, 0, 31).getTime();
    const span = spanOf({ range: 'today' }, midnightMs + 9.5 * 3_600_000);
    expect(span).toEqual({
      from_ms: midnightMs - (midnightMs % 3_600_000),
      to_ms: span.from_ms + 10 * 3_600_000,
      bucket: 'hour',
      isLocal: true,
    });
    expect(bucketLabel(midnightMs, span)).toBe('31 Jan, 00:00');
  });

  it('includes the last day of a range of one’s own', () => {
    expect(spanOf({ from: '2026-01-01', to: '2026-01-01' }, NOW)).toEqual({
      from_ms: Date.UTC(2026, 0, 1),
      to_ms: Date.UTC(2026, 0, 2),
      bucket: 'hour',
    });
  });
});

describe('seriesOf', () => {
  it('has a bar for every day, at zero where nothing was spent', () => {
    const span = spanOf({ from: '2026-01-01', to: '2026-01-03' }, NOW);
    const { times, costs } = seriesOf([line('2026-01-02T00:00:00.000Z', 4)], span);
    expect(times).toHaveLength(3);
    expect(costs).toEqual([0, 4, 0]);
    const lines = [line('2026-01-02T00:00:00.000Z', 0, { unpriced_call_count: 2 })];
    expect(seriesOf(lines, span).haveUnknown).toEqual([false, true, false]);
  });
});

describe('lines', () => {
  it('add up, unknown costs apart', () => {
    const total = totalsOf([line('a', 1), line('b', 2, { unpriced_call_count: 3, call_count: 4 })]);
    expect(total).toMatchObject({ cost_usd: 3, call_count: 5, input_tokens: 20, unpriced_call_count: 3 });
  });

  it('are said of the others together, where there are more lines than a table takes', () => {
    const lines = Array.from({ length: LIMITS.spendLinesMax }, (_, at) => line(`agent-${at}`, 1));
    const whole = totalsOf([...lines, line('other', 3, { call_count: 7 })]);
    expect(othersOf(whole, lines)).toEqual({ call_count: 7, cost_usd: 3 });
    expect(othersOf(totalsOf([]), lines)).toEqual({ call_count: 0, cost_usd: 0 });
    expect(othersOf(whole, lines.slice(1))).toBe(null);
  });

  it('are ordered by cost, days by date', () => {
    const keys = (lines: SpendLine[]) => lines.map(({ key }) => key);
    expect(keys(orderLines([line('a', 1), line('b', 2)], false))).toEqual(['b', 'a']);
    expect(keys(orderLines([line('2026-01-01', 9), line('2026-01-02', 1)], true))).toEqual([
      '2026-01-02',
      '2026-01-01',
    ]);
  });

  it('name their bucket in UTC', () => {
    expect(bucketLabel(Date.UTC(2026, 0, 31), { bucket: 'day' })).toBe('Sat 31 Jan');
    expect(bucketLabel(Date.UTC(2026, 0, 31, 9), { bucket: 'hour' })).toBe('31 Jan, 09:00');
  });
});

describe('parseSpendSearch', () => {
  it('drops a range that is none', () => {
    expect(parseSpendSearch({ from: '2026-02-01', to: '2026-01-01', range: '7d' })).toEqual({ range: '7d' });
    expect(parseSpendSearch({ from: '2026-01-01' })).toEqual({});
    expect(parseSpendSearch({ by: 'model', agent: 7 })).toEqual({ by: 'model', agent: '7' });
  });
});
