/** What a model costs. An unknown model is counted in tokens and its cost is unknown, never zero. */
import { z } from 'zod';

export const PRICE_USD_MAX = 100_000;

const perMillion = z.number().min(0).max(PRICE_USD_MAX);

export const modelPriceSchema = z.object({
  /**
   * A model's name. Matches itself and itself followed by a date or version suffix (`-2026-01-31`, `-20260131`,
   * `-001`, `-latest`, `@20260131`, `@default`); a trailing `*` matches any ending. The longest match wins. Behind it may stand, in brackets, the service
   * tier whose prices these are: `gpt-5 [flex]`. What is answered in a tier without a line of its own costs an unknown amount. So does what Anthropic had to answer in one
   * country, `claude-opus-5 [us]`. In the same way `gpt-5 [audio]` and `gpt-5 [image]` hold what tokens of sound,
   * and of pictures that are written, cost; `gpt-5 [flex audio]` in a tier.
   */
  model: z.string().trim().min(1).max(200),
  /** USD for a million tokens. */
  input_usd: perMillion,
  output_usd: perMillion,
  /** Null: as `input_usd`. */
  cached_input_usd: perMillion.nullable(),
  cache_write_usd: perMillion.nullable(),
  /** Of what is written to stay for an hour, at OpenAI for twelve. Null or absent: as `cache_write_usd`. */
  cache_write_hour_usd: perMillion.nullish(),
  /**
   * Of a prompt of more tokens, cached ones among them, each costs twice as much, and each of its answer one and a half times: so do
   * OpenAI and Google charge for long ones. Null or absent: no prompt is long.
   */
  long_prompt_tokens: z.number().int().min(1).nullish(),
  /** How many times as much all tokens of a long prompt and of its answer cost, where it is another factor than these. */
  long_prompt_factor: z.number().min(1).max(100).nullish(),
  /** USD for a thousand web searches that the vendor runs. Null or absent: they are not charged. */
  search_usd: z.number().min(0).max(PRICE_USD_MAX).nullish(),
  /** The same for those of OpenAI's preview tool (`web_search_preview`). Null or absent: as `search_usd`. */
  search_preview_usd: z.number().min(0).max(PRICE_USD_MAX).nullish(),
  /** USD for a thousand searches in stored files (OpenAI's `file_search`). Null or absent: they are not charged. */
  file_search_usd: z.number().min(0).max(PRICE_USD_MAX).nullish(),
});
export type ModelPrice = z.infer<typeof modelPriceSchema>;

/** `GET /v1/prices` */
export const priceTableSchema = z.object({
  /** 1, 2, 3 ...; 0 is the one this program came with. */
  version: z.number().int(),
  updated_at_ms: z.number().nullable(),
  updated_by: z.string().nullable(),
  models: z.array(modelPriceSchema).max(5_000),
});
export type PriceTable = z.infer<typeof priceTableSchema>;

/** `PUT /v1/prices`: the whole table; `version` is the one it was edited from, so that two operators don't overwrite each other. */
export const priceTablePutSchema = z.strictObject({
  version: z.number().int(),
  models: z.array(modelPriceSchema).max(5_000),
});

export const SPEND_GROUPS = ['agent', 'model', 'day', 'hour'] as const;
export type SpendGroup = (typeof SPEND_GROUPS)[number];

/** Sums of calls; one line of `GET /v1/spend`. */
export const spendLineSchema = z.object({
  /** Agent id, model name, or the UTC start of the day or hour as ISO 8601. */
  key: z.string(),
  call_count: z.number().int(),
  input_tokens: z.number().int(),
  cached_input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  reasoning_tokens: z.number().int(),
  /** Known costs only. */
  cost_usd: z.number(),
  /** Calls whose cost is unknown: `isCostUnknown`. */
  unpriced_call_count: z.number().int(),
});
export type SpendLine = z.infer<typeof spendLineSchema>;
