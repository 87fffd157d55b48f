import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '#kernel';
import { buildCallRow, buildUsage } from '#testing';
import { SPEND_COLUMNS, spendWidth } from './proxy-protocol.js';
import { spendSums } from './spend-sums.js';

function lines(...rows: Parameters<typeof spendSums>[0]): Record<string, unknown>[] {
  const values = spendSums(rows);
  return Array.from({ length: values.length / spendWidth }, (_, line) =>
    Object.fromEntries(SPEND_COLUMNS.map((column, at) => [column, values[line * spendWidth + at]])),
  );
}

describe('spendSums', () => {
  it('adds the calls of one tenant, hour, agent and model up to one line', () => {
    const rows = Array.from({ length: 100 }, () => buildCallRow({ cost_usd: 0.01 }));
    expect(lines(...rows)).toEqual([
      {
        tenant_id: 'default',
        hour_ms: 0,
        agent_id: 'agent-1',
        model: 'gpt-5-mini',
        call_count: 100,
        unpriced_call_count: 0,
        input_tokens: 10_000,
        cached_input_tokens: 4_000,
        output_tokens: 2_000,
        reasoning_tokens: 500,
        cost_nano_usd: 1_000_000_000,
      },
    ]);
  });

  it('keeps apart what differs in any part of the key', () => {
    const rows = [
      buildCallRow({}),
      buildCallRow({}, 'other'),
      buildCallRow({ agent_id: 'agent-2' }),
      buildCallRow({ model: null }),
      buildCallRow({ started_at_ms: HOUR_MS }),
      buildCallRow({ agent_id: 'agent-1g', model: 'pt-5-mini' }),
    ];
    expect(lines(...rows).map((line) => line.call_count)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('counts a call as unpriced where it cost something, usage or no usage, and not where it was refused', () => {
    const unpriced = { cost_usd: null };
    const rows = [
      buildCallRow(unpriced),
      buildCallRow({ ...unpriced, usage: null }),
      buildCallRow({ ...unpriced, usage: null, decision: 'killed' }),
    ];
    expect(lines(...rows)).toMatchObject([{ call_count: 3, unpriced_call_count: 2, cost_nano_usd: 0 }]);
  });

  it('adds what a fetched answer costs to the hour in which it was asked for, and takes back what was too much', () => {
    const asked = buildCallRow({ cost_usd: 0.04, started_at_ms: HOUR_MS - 1 });
    const fetched = {
      ...buildCallRow({ cost_usd: -0.03, started_at_ms: HOUR_MS }),
      spent_at_ms: HOUR_MS - 1,
    };
    const firstHour = { hour_ms: 0, call_count: 1, cost_nano_usd: 10_000_000 };
    expect(lines(asked, fetched)).toMatchObject([
      firstHour,
      { hour_ms: HOUR_MS, call_count: 1, cost_nano_usd: 0 },
    ]);
  });

  it.each([Number.NaN, -5, Number.POSITIVE_INFINITY, 1e300])(
    'stays a whole, bounded number for %s',
    (claim) => {
      const [line] = lines(buildCallRow({ cost_usd: claim, usage: buildUsage({ output_tokens: claim }) }));
      expect(Number.isSafeInteger(line?.cost_nano_usd)).toBe(true);
      expect(Number.isSafeInteger(line?.output_tokens)).toBe(true);
    },
  );
});
