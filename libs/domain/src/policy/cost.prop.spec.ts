import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Usage } from '#contracts';
import { costMicroUsd } from './cost.js';

const usage = (counts: Omit<Usage, 'reasoning_tokens'>): Usage => ({ ...counts, reasoning_tokens: 0 });

it('is exact for any usage, and never negative, even for parts larger than their whole', () => {
  const amount = fc.oneof(fc.integer({ min: -5, max: 10 }), fc.integer({ min: 0, max: 2_000_000_000 }));
  const usd = fc.integer({ min: 0, max: 100_000_000_000 }).map((micro) => micro / 1_000_000);
  fc.assert(
    fc.property(
      fc.array(amount, { minLength: 4, maxLength: 4 }),
      fc.array(usd, { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 5_000 }),
      fc.option(usd),
      (counts, prices, search_count, search_usd) => {
        const [input, cached, written, output] = counts as [number, number, number, number];
        const [input_usd, output_usd, cached_input_usd, cache_write_usd] = prices as [
          number,
          number,
          number,
          number,
        ];
        const price = { model: 'm', input_usd, output_usd, cached_input_usd, cache_write_usd, search_usd };
        const cost = costMicroUsd(
          price,
          usage({
            input_tokens: input,
            cached_input_tokens: cached,
            cache_write_tokens: written,
            output_tokens: output,
            search_count,
          }),
        );
        const pico = (value: number): bigint => BigInt(Math.round(value * 1_000_000));
        const whole = Math.max(0, input);
        const read = Math.min(Math.max(0, cached), whole);
        const write = Math.min(Math.max(0, written), whole - read);
        const sum =
          BigInt(whole - read - write) * pico(input_usd) +
          BigInt(read) * pico(cached_input_usd) +
          BigInt(write) * pico(cache_write_usd) +
          BigInt(Math.max(0, output)) * pico(output_usd) +
          BigInt(search_count) * pico(search_usd ?? 0) * 1_000n;
        expect(cost).toBe(Number((sum + 500_000n) / 1_000_000n));
        expect(cost).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});
