import { describe, expect, it } from 'vitest';
import { type ModelPrice, PRICE_USD_MAX, type Usage } from '#contracts';
import { costMicroUsd, estimateUsage, usageParts } from './cost.js';

const SONNET: ModelPrice = {
  model: 'claude-sonnet-4-5',
  input_usd: 3,
  output_usd: 15,
  cached_input_usd: 0.3,
  cache_write_usd: 3.75,
};
const usage = (counts: Partial<Usage>): Usage => ({
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  ...counts,
});

describe('costMicroUsd', () => {
  it('prices plain, cached and written input apart, and reasoning as the output it is part of', () => {
    const used = usage({
      input_tokens: 10_000,
      cached_input_tokens: 6_000,
      cache_write_tokens: 1_000,
      output_tokens: 500,
      reasoning_tokens: 400,
    });
    expect(costMicroUsd(SONNET, used)).toBe(3_000 * 3 + 6_000 * 0.3 + 1_000 * 3.75 + 500 * 15);
  });

  it('takes the input price where the vendor has none for its cache', () => {
    const flat = { ...SONNET, cached_input_usd: null, cache_write_usd: null };
    const used = usage({ input_tokens: 100, cached_input_tokens: 50, cache_write_tokens: 50 });
    expect(costMicroUsd(flat, used)).toBe(300);
  });

  it('prices apart what is written to stay for an hour, where that has a price', () => {
    const used = usage({ input_tokens: 1_000, cache_write_tokens: 900, cache_write_hour_tokens: 600 });
    const plain = 100 * 3 + 300 * 3.75;
    expect(costMicroUsd({ ...SONNET, cache_write_hour_usd: 6 }, used)).toBe(plain + 600 * 6);
    for (const cache_write_hour_usd of [null, undefined])
      expect(costMicroUsd({ ...SONNET, cache_write_hour_usd }, used)).toBe(plain + 600 * 3.75);
  });

  it('adds nothing for what a usage does not name', () => {
    const dear = {
      ...SONNET,
      cache_write_hour_usd: 60,
      search_usd: 10,
      search_preview_usd: 25,
      file_search_usd: 2.5,
    };
    const used = usage({ input_tokens: 1_000, cache_write_tokens: 900 });
    expect(costMicroUsd(dear, used)).toBe(100 * 3 + 900 * 3.75);
    expect(costMicroUsd(dear, usage({ search_count: 1 }))).toBe(10_000);
  });

  it('takes twice the price for all input of a long prompt, and one and a half times that of its answer', () => {
    const price = { ...SONNET, search_usd: 10, long_prompt_tokens: 200_000 };
    const cached = { cached_input_tokens: 40_000, cache_write_tokens: 10_000, output_tokens: 100 };
    const used = (input_tokens: number) => usage({ input_tokens, ...cached, search_count: 1 });
    const input = (plain: number) => plain * 3 + 40_000 * 0.3 + 10_000 * 3.75;
    expect(costMicroUsd(price, used(200_000))).toBe(input(150_000) + 1_500 + 10_000);
    expect(costMicroUsd(price, used(200_001))).toBe(2 * input(150_001) + 2_250 + 10_000);
    expect(costMicroUsd({ ...price, long_prompt_factor: 5 }, used(200_001))).toBe(
      5 * (input(150_001) + 1_500) + 10_000,
    );
    expect(costMicroUsd({ ...price, long_prompt_tokens: null }, used(200_001))).toBe(
      input(150_001) + 1_500 + 10_000,
    );
    const forAnHour = { ...used(200_001), cache_write_hour_tokens: 10_000 };
    expect(costMicroUsd({ ...price, cache_write_hour_usd: 6 }, forAnHour)).toBe(
      2 * (input(150_001) + 10_000 * (6 - 3.75)) + 2_250 + 10_000,
    );
    // Of a part of the prompt, such as its sound.
    expect(costMicroUsd(price, used(150_000), 200_001)).toBe(2 * input(100_000) + 2_250 + 10_000);
  });

  it('adds the web searches that the vendor ran, where they have a price', () => {
    const used = usage({ output_tokens: 100, search_count: 3 });
    expect(costMicroUsd({ ...SONNET, search_usd: 10 }, used)).toBe(1_500 + 30_000);
    expect(costMicroUsd({ ...SONNET, search_usd: null }, used)).toBe(1_500);
    const mixed = { ...used, search_preview_count: 2 };
    expect(costMicroUsd({ ...SONNET, search_usd: 10, search_preview_usd: 25 }, mixed)).toBe(61_500);
    expect(costMicroUsd({ ...SONNET, search_usd: 10, search_preview_usd: null }, mixed)).toBe(31_500);
    expect(costMicroUsd(SONNET, used)).toBe(1_500);
  });

  it('adds the searches in files, where they have a price', () => {
    const used = usage({ output_tokens: 100, search_count: 1, file_search_count: 3 });
    expect(costMicroUsd({ ...SONNET, search_usd: 10, file_search_usd: 2.5 }, used)).toBe(1_500 + 17_500);
    expect(costMicroUsd(SONNET, used)).toBe(1_500);
  });

  it('rounds once, to the nearest micro-dollar', () => {
    const cheap = { ...SONNET, input_usd: 0.1, output_usd: 0.7 };
    expect(costMicroUsd(cheap, usage({ input_tokens: 3 }))).toBe(0);
    // 0.3 + 0.7: exactly one, which doubles would miss.
    expect(costMicroUsd(cheap, usage({ input_tokens: 3, output_tokens: 1 }))).toBe(1);
    expect(costMicroUsd(cheap, usage({ input_tokens: 5 }))).toBe(1);
    expect(costMicroUsd(cheap, usage({}))).toBe(0);
  });
});

describe('usageParts', () => {
  it('takes for cached the text first, and of what was heard the rest', () => {
    const used = usage({ input_tokens: 1_000, cached_input_tokens: 900, output_tokens: 70 });
    const [text, audio] = usageParts({ ...used, audio_input_tokens: 300, audio_output_tokens: 50 });
    expect(text).toMatchObject({
      name: '',
      usage: { input_tokens: 700, cached_input_tokens: 700, output_tokens: 20 },
    });
    expect(audio).toMatchObject({
      name: 'audio',
      usage: { input_tokens: 300, cached_input_tokens: 200, output_tokens: 50 },
    });
  });

  const used = usage({ input_tokens: 1_000, output_tokens: 200 });

  it('is the text alone, where there are neither sound nor pictures', () => {
    expect(usageParts(used)).toEqual([{ name: '', usage: used }]);
  });

  it('has sound apart, even where as much was spoken as was heard', () => {
    expect(usageParts({ ...used, audio_input_tokens: 50, audio_output_tokens: 50 })).toEqual([
      { name: '', usage: expect.objectContaining({ input_tokens: 950, output_tokens: 150 }) },
      { name: 'audio', usage: usage({ input_tokens: 50, output_tokens: 50 }) },
    ]);
  });

  it('has pictures apart, beside sound or alone', () => {
    const sound = { audio_input_tokens: 30, audio_output_tokens: 20 };
    const pictures = { name: 'image', usage: usage({ output_tokens: 50 }) };
    expect(usageParts({ ...used, ...sound, image_output_tokens: 50 })).toEqual([
      { name: '', usage: expect.objectContaining({ input_tokens: 970, output_tokens: 130 }) },
      { name: 'audio', usage: usage({ input_tokens: 30, output_tokens: 20 }) },
      pictures,
    ]);
    expect(usageParts({ ...used, image_output_tokens: 50 })).toEqual([
      { name: '', usage: expect.objectContaining({ input_tokens: 1_000, output_tokens: 150 }) },
      pictures,
    ]);
  });
});

describe('estimateUsage', () => {
  it('takes four bytes for a token and the bound the caller set on its output', () => {
    expect(estimateUsage(4_001, 512)).toEqual(usage({ input_tokens: 1_001, output_tokens: 512 }));
  });

  it('has at least a token of input, and whole numbers for odd bounds', () => {
    expect(estimateUsage(0, 0.5)).toEqual(usage({ input_tokens: 1, output_tokens: 1 }));
    expect(estimateUsage(10, -5)).toEqual(usage({ input_tokens: 3, output_tokens: 0 }));
  });

  it('can be summed up, priced and counted exactly whatever bound the caller sets', () => {
    const { input_tokens, output_tokens } = estimateUsage(64 * 1024 * 1024, Number.MAX_SAFE_INTEGER);
    expect(Number.isSafeInteger(input_tokens + output_tokens)).toBe(true);
    const dearest = { ...SONNET, output_usd: PRICE_USD_MAX };
    const cost = costMicroUsd(dearest, estimateUsage(0, Number.MAX_SAFE_INTEGER));
    expect(Number.isSafeInteger(2 * cost)).toBe(true);
  });
});
