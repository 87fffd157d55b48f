import { describe, expect, it } from 'vitest';
import { type ModelPrice, type PriceTable, priceTableSchema } from '#contracts';
import { DEFAULT_PRICES } from './default-prices.js';
import { findPrice } from './find-price.js';

const price = (model: string, input_usd = 1): ModelPrice => ({
  model,
  input_usd,
  output_usd: 2,
  cached_input_usd: null,
  cache_write_usd: null,
});
const table = (...models: ModelPrice[]): PriceTable => ({
  version: 1,
  updated_at_ms: null,
  updated_by: null,
  models,
});
const nameOf = (given: PriceTable, model: string, tier?: string): string | undefined =>
  findPrice(given, model, tier)?.model;

describe('findPrice', () => {
  it('takes for a service tier a line of its own, and no other', () => {
    const given = table(price('gpt-5'), price('gpt-5 [flex]'), price('gpt-*'), price('o*[Priority]'));
    expect(nameOf(given, 'gpt-5-2026-01-31')).toBe('gpt-5');
    expect(nameOf(given, 'gpt-5-2026-01-31', 'flex')).toBe('gpt-5 [flex]');
    expect(nameOf(given, 'o3', 'priority')).toBe('o*[Priority]');
    expect(nameOf(given, 'o3')).toBeUndefined();
    expect(nameOf(given, 'gpt-5', 'priority')).toBeUndefined();
  });

  it.each(['gpt-5', 'gpt-5-2026-01-31', 'gpt-5-20260131', 'gpt-5-001', 'gpt-5-latest'])(
    'takes %s for gpt-5',
    (model) => {
      expect(nameOf(table(price('gpt-5')), model)).toBe('gpt-5');
    },
  );

  it.each([
    'gpt-5-mini',
    'gpt-5.1',
    'gpt-50',
    'gpt-5-2026-1-31',
    'gpt-5-2026',
    'gpt',
    'my-gpt-5',
    'GPT-5',
    '',
  ])('does not take "%s" for gpt-5: its cost is unknown', (model) => {
    expect(findPrice(table(price('gpt-5')), model)).toBeNull();
  });

  it('lets the longest match win: a name with its date, a name, a prefix', () => {
    const given = table(
      price('gpt-*'),
      price('gpt-5-*'),
      price('gpt-5'),
      price('gpt-5-mini'),
      price('gpt-5-mini-2026-01-31'),
      price('gpt-5-nano-2026*'),
      price('gpt-5-nano'),
    );
    expect(nameOf(given, 'gpt-5-mini-2026-01-31')).toBe('gpt-5-mini-2026-01-31');
    expect(nameOf(given, 'gpt-5-mini-2026-02-28')).toBe('gpt-5-mini');
    expect(nameOf(given, 'gpt-5-2026-02-28')).toBe('gpt-5-*');
    expect(nameOf(given, 'gpt-5-nano-2026-02-28')).toBe('gpt-5-nano-2026*');
    expect(nameOf(given, 'gpt-5')).toBe('gpt-5');
    expect(nameOf(given, 'gpt-9')).toBe('gpt-*');
    expect(nameOf(table(price('*')), 'anything')).toBe('*');
    expect(nameOf(table(price('gpt-5*'), price('gpt-5')), 'gpt-5')).toBe('gpt-5');
  });

  it('answers again from memory, by table, and for more names than it remembers', () => {
    const cheap = table(price('m', 1));
    const dear = table(price('m', 9));
    for (let round = 0; round < 2; round += 1) {
      expect(findPrice(cheap, 'm')?.input_usd).toBe(1);
      expect(findPrice(dear, 'm')?.input_usd).toBe(9);
    }
    for (let id = 0; id < 10_010; id += 1) expect(findPrice(cheap, `unknown-${id}`)).toBeNull();
    expect(findPrice(cheap, `m${'x'.repeat(1_000)}`)).toBeNull();
    expect(findPrice(cheap, 'm')?.input_usd).toBe(1);
  });

  it.each(['constructor', '__proto__', 'toString'])('has no price for a model named %s', (model) => {
    expect(findPrice(DEFAULT_PRICES, model)).toBeNull();
  });
});

describe('the prices it comes with', () => {
  it('are a valid table of version 0, each model once, cached input never dearer than input', () => {
    expect(priceTableSchema.parse(DEFAULT_PRICES).version).toBe(0);
    const names = DEFAULT_PRICES.models.map(({ model }) => model);
    expect(new Set(names).size).toBe(names.length);
    for (const { cached_input_usd, input_usd } of DEFAULT_PRICES.models)
      expect(cached_input_usd ?? 0).toBeLessThanOrEqual(input_usd);
  });

  it.each([
    ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
    ['claude-sonnet-4-20250514', 'claude-sonnet-4'],
    ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
    ['claude-opus-5@default', 'claude-opus-5'],
    ['gemini-2.5-flash', 'gemini-2.5-flash'],
    ['gemini-2.0-flash-001', 'gemini-2.0-flash'],
  ])('know %s as %s', (model, name) => {
    expect(nameOf(DEFAULT_PRICES, model)).toBe(name);
  });

  it.each([
    ['gpt-4o', 10],
    ['gpt-5-search-api-2025-10-14', 10],
    ['gpt-4o-search-preview-2025-03-11', 25],
    ['gpt-4o-mini-search-preview', 25],
    ['claude-sonnet-4-5', 10],
    ['gemini-2.5-flash', 35],
    ['gemini-3.5-flash', 14],
    ['text-embedding-3-small', null],
  ])('know what a thousand searches of %s cost', (model, usd) => {
    expect(findPrice(DEFAULT_PRICES, model)?.search_usd).toBe(usd);
  });

  it.each([
    ['gpt-4o', 25],
    ['gpt-4.1-mini-2025-04-14', 25],
    ['gpt-5.1', undefined],
    ['o4-mini', undefined],
    ['claude-sonnet-4-5', undefined],
  ])('know what the preview tool costs with %s, where that is something else', (model, usd) => {
    expect(findPrice(DEFAULT_PRICES, model)?.search_preview_usd).toBe(usd);
  });

  it.each([
    ['gpt-4o', 2.5],
    ['o3', 2.5],
    ['gpt-6-sol', 2.5],
    ['claude-sonnet-4-5', undefined],
    ['gemini-3.5-flash', undefined],
    ['text-embedding-3-small', undefined],
  ])('know what a thousand searches in files cost with %s', (model, usd) => {
    expect(findPrice(DEFAULT_PRICES, model)?.file_search_usd).toBe(usd);
  });

  it("know that what a model of Anthropic's had to answer in the United States costs a tenth more, but for searches", () => {
    expect(findPrice(DEFAULT_PRICES, 'claude-opus-5', 'us')).toMatchObject({
      input_usd: 5.5,
      output_usd: 27.5,
      cached_input_usd: 0.55,
      cache_write_usd: 6.875,
      cache_write_hour_usd: 11,
      search_usd: 10,
    });
    for (const model of ['claude-sonnet-4-5', 'claude-opus-4', 'claude-3-haiku', 'gpt-5'])
      expect(findPrice(DEFAULT_PRICES, model, 'us')).toBeNull();
  });

  it.each([
    ['gpt-5.4', 272_000],
    ['gpt-6-sol', 272_000],
    ['gpt-5.2', undefined],
    ['gemini-2.5-pro', 200_000],
    ['gemini-3.1-pro-preview', 200_000],
    ['gemini-2.5-flash', undefined],
    ['claude-sonnet-5', undefined],
    ['claude-haiku-4-5', undefined],
  ])('know from where on a prompt of %s is a long one', (model, tokens) => {
    expect(findPrice(DEFAULT_PRICES, model)?.long_prompt_tokens).toBe(tokens);
  });

  it.each([undefined, 'us'])(
    'know that a long prompt of Claude Haiku 5.5 costs five times as much, tier %s',
    (tier) => {
      expect(findPrice(DEFAULT_PRICES, 'claude-haiku-5-5', tier)).toMatchObject({
        long_prompt_tokens: 100_000,
        long_prompt_factor: 5,
      });
    },
  );

  it('know what is kept in a cache for long: an hour at Anthropic, twelve at OpenAI', () => {
    const longWriteOf = (model: string) => findPrice(DEFAULT_PRICES, model)?.cache_write_hour_usd;
    expect(longWriteOf('gpt-6.2-sol')).toBe(5);
    expect(longWriteOf('claude-fable-5-2')).toBe(16);
    expect(longWriteOf('gpt-6.1-sol')).toBeUndefined();
  });

  it.each([
    ['gemini-4-carbon', 4, 20, 0.2],
    ['gemini-4-argon', 4, 20, 0.2],
    ['gemini-4-neon', 3, 15, 0.15],
    ['gemini-4-hydrogen', 1.5, 7.5, 0.075],
    ['gemini-3.8-flash', 0.75, 3.75, 0.075],
  ])('know what %s costs, sound too, at any length of the prompt', (model, input, output, cached) => {
    const rates = { input_usd: input, output_usd: output, cached_input_usd: cached, search_usd: 14 };
    const price = findPrice(DEFAULT_PRICES, model);
    expect(price).toMatchObject(rates);
    expect(price).not.toHaveProperty('long_prompt_tokens');
    expect(findPrice(DEFAULT_PRICES, model, 'audio')).toMatchObject({ ...rates, search_usd: null });
  });

  it('know that a moderation is free', () => {
    const price = findPrice(DEFAULT_PRICES, 'omni-moderation-latest');
    expect(price).toMatchObject({ input_usd: 0, output_usd: 0, search_usd: null });
  });

  it.each([
    ['claude-sonnet-4-5', 6],
    ['claude-haiku-4-5-20251001', 2],
    ['gpt-6-sol', undefined],
  ])('know what it costs to write to the cache of %s for an hour', (model, usd) => {
    expect(findPrice(DEFAULT_PRICES, model)?.cache_write_hour_usd).toBe(usd);
  });
});
