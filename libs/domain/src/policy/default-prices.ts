/**
 * The prices this program comes with: what OpenAI, Anthropic and Google publish for their text models, in USD for a
 * million tokens, as known in November 2026. They are list prices, change without notice, and are there to be edited
 * (`PUT /v1/prices`). These are not told apart: batches, an advisor of another model (at the rate of the one that asks
 * it), storage of caches, free daily searches, and what vendors charge for built-in tools other than their searches: a
 * container of the code interpreter is charged once, and no answer says whether it was new.
 *
 * Service tiers with prices of their own (flex, priority, fast) have none here: what is answered in them costs an unknown
 * amount until a line `<model> [<tier>]` says how much. The same goes for tokens of sound, `<model> [audio]`, but for
 * Gemini's, and of pictures that a model writes, or a tool of OpenAI's for it, `<model> [image]`; pictures that it reads
 * cost as text. What Anthropic had to answer in the United States costs a tenth more, `<model> [us]`; in a tier as well
 * (`[fast us]`) it is unknown.
 *
 * Names have no `*`: a model that is not listed costs an unknown amount, and not its predecessor's.
 */
import type { ModelPrice, PriceTable } from '#contracts';

/** [name, input, output, cached input, cache write] */
type Line = readonly [string, number, number, (number | null)?, (number | null)?];

const OPENAI: readonly Line[] = [
  ['gpt-6.2-astra', 8, 40, 0.4, 10],
  ['gpt-6.2-sol', 2, 10, 0.1, 2.5],
  ['gpt-6-astra', 10, 50, 1, 12.5],
  ['gpt-6.1-sol', 2, 10, 0.1, 2.5],
  ['gpt-6-sol', 2, 10, 0.2, 2.5],
  ['gpt-6.1-terra', 1, 5, 0.05, 1.25],
  ['gpt-6-luna', 0.1, 0.5, 0.01, 0.125],
  ['gpt-5.6-sol', 5, 30, 0.5],
  ['gpt-5.6-terra', 2, 12, 0.2],
  ['gpt-5.6-luna', 0.2, 1.2, 0.02],
  ['gpt-5.5', 5, 30, 0.5],
  ['gpt-5.4', 2.5, 15, 0.25],
  ['gpt-5.4-mini', 0.75, 4.5, 0.075],
  ['gpt-5.4-nano', 0.2, 1.25, 0.02],
  ['gpt-5.3-codex', 1.75, 14, 0.175],
  ['gpt-5.2', 1.75, 14, 0.175],
  ['gpt-5.2-codex', 1.75, 14, 0.175],
  ['gpt-5.2-pro', 21, 168],
  ['gpt-5.1', 1.25, 10, 0.125],
  ['gpt-5.1-codex', 1.25, 10, 0.125],
  ['gpt-5.1-codex-mini', 0.25, 2, 0.025],
  ['gpt-5', 1.25, 10, 0.125],
  ['gpt-5-mini', 0.25, 2, 0.025],
  ['gpt-5-nano', 0.05, 0.4, 0.005],
  ['gpt-5-pro', 15, 120],
  ['gpt-5-search-api', 1.25, 10, 0.125],
  ['gpt-4.1', 2, 8, 0.5],
  ['gpt-4.1-mini', 0.4, 1.6, 0.1],
  ['gpt-4.1-nano', 0.1, 0.4, 0.025],
  ['gpt-4o', 2.5, 10, 1.25],
  ['gpt-4o-2024-05-13', 5, 15],
  ['gpt-4o-mini', 0.15, 0.6, 0.075],
  ['gpt-4o-search-preview', 2.5, 10],
  ['gpt-4o-mini-search-preview', 0.15, 0.6],
  ['o3', 2, 8, 0.5],
  ['o3-pro', 20, 80],
  ['o3-mini', 1.1, 4.4, 0.55],
  ['o4-mini', 1.1, 4.4, 0.275],
  ['o1', 15, 60, 7.5],
  ['o1-pro', 150, 600],
  ['gpt-4-turbo', 10, 30],
  ['gpt-4', 30, 60],
  ['gpt-3.5-turbo', 0.5, 1.5],
  ['omni-moderation', 0, 0],
  ['text-embedding-3-small', 0.02, 0],
  ['text-embedding-3-large', 0.13, 0],
];

const ANTHROPIC: readonly Line[] = [
  ['claude-fable-5-2', 8, 40, 0.2, 10],
  ['claude-fable-5-1', 10, 50, 0.25, 12.5],
  ['claude-mythos-5-1', 10, 50, 0.25, 12.5],
  ['claude-fable-5', 10, 50, 1, 12.5],
  ['claude-mythos-5', 10, 50, 1, 12.5],
  ['claude-opus-5-5', 4, 20, 0.2, 5],
  ['claude-opus-5', 5, 25, 0.5, 6.25],
  ['claude-opus-4-8', 5, 25, 0.5, 6.25],
  ['claude-opus-4-7', 5, 25, 0.5, 6.25],
  ['claude-opus-4-6', 5, 25, 0.5, 6.25],
  ['claude-opus-4-5', 5, 25, 0.5, 6.25],
  ['claude-opus-4-1', 15, 75, 1.5, 18.75],
  ['claude-opus-4-0', 15, 75, 1.5, 18.75],
  ['claude-opus-4', 15, 75, 1.5, 18.75],
  ['claude-sonnet-5-5', 2, 10, 0.1, 2.5],
  ['claude-sonnet-5', 2, 10, 0.2, 2.5],
  ['claude-sonnet-4-6', 3, 15, 0.3, 3.75],
  ['claude-sonnet-4-5', 3, 15, 0.3, 3.75],
  ['claude-sonnet-4-0', 3, 15, 0.3, 3.75],
  ['claude-sonnet-4', 3, 15, 0.3, 3.75],
  ['claude-3-7-sonnet', 3, 15, 0.3, 3.75],
  ['claude-haiku-5-5', 0.1, 0.5, 0.01, 0.125],
  ['claude-haiku-4-5', 1, 5, 0.1, 1.25],
  ['claude-3-5-haiku', 0.8, 4, 0.08, 1],
  ['claude-3-haiku', 0.25, 1.25, 0.03, 0.3],
];

const GEMINI: readonly Line[] = [
  ['gemini-4-neon', 3, 15, 0.15],
  // These two from December 2026; half as much before.
  ['gemini-4-carbon', 4, 20, 0.2],
  ['gemini-4-argon', 4, 20, 0.2],
  ['gemini-4-hydrogen', 1.5, 7.5, 0.075],
  // These three until the end of 2026; twice as much afterwards.
  ['gemini-3.8-flash', 0.75, 3.75, 0.075],
  ['gemini-3.7-flash', 0.75, 3.75, 0.075],
  ['gemini-3.6-flash', 0.75, 3.75, 0.075],
  ['gemini-3.5-flash', 1.5, 9, 0.15],
  ['gemini-3.5-flash-lite', 0.3, 2.5, 0.03],
  ['gemini-3.1-pro', 2, 12, 0.2],
  ['gemini-3.1-pro-preview', 2, 12, 0.2],
  ['gemini-3.1-flash-lite', 0.25, 1.5, 0.025],
  ['gemini-3-pro-preview', 2, 12, 0.2],
  ['gemini-3-flash-preview', 0.5, 3, 0.05],
  ['gemini-2.5-pro', 1.25, 10, 0.125],
  ['gemini-2.5-flash', 0.3, 2.5, 0.03],
  ['gemini-2.5-flash-lite', 0.1, 0.4, 0.01],
  ['gemini-2.0-flash', 0.1, 0.4, 0.025],
  ['gemini-2.0-flash-lite', 0.075, 0.3],
  ['gemini-embedding-001', 0.15, 0],
];

/** Those of Gemini's whose sound has a rate of its own; with every other one that hears it costs as text. */
const GEMINI_SOUND: readonly Line[] = [
  ['gemini-3.1-flash-lite [audio]', 0.5, 1.5, 0.05],
  ['gemini-3-flash-preview [audio]', 1, 3, 0.1],
  ['gemini-2.5-flash [audio]', 1, 2.5, 0.1],
  ['gemini-2.5-flash-lite [audio]', 0.3, 0.4, 0.03],
  ['gemini-2.0-flash [audio]', 0.7, 0.4, 0.175],
];

const soundLines = (): readonly Line[] => {
  const own = new Set(GEMINI_SOUND.map(([name]) => name));
  const asText = GEMINI.filter(([model]) => !model.includes('embedding')).map(
    ([model, ...rates]): Line => [`${model} [audio]`, ...rates],
  );
  return [...GEMINI_SOUND, ...asText.filter(([name]) => !own.has(name))];
};

/** Of Anthropic's models those that cannot be told where to answer. */
const ANSWERS_ANYWHERE = /^claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-5])?$)/;
const IN_US_FACTOR = 1.1;

const inUs = (usd: number): number => Number((usd * IN_US_FACTOR).toFixed(6));

const usLines = (): readonly Line[] =>
  ANTHROPIC.filter(([model]) => !ANSWERS_ANYWHERE.test(model)).map(
    ([model, input, output, cached, write]): Line => [
      `${model} [us]`,
      inUs(input),
      inUs(output),
      inUs(cached ?? input),
      inUs(write ?? input),
    ],
  );

/** For a thousand. Of Gemini up to version 2 an answer with any, from 3 each query. OpenAI's previews charge no tokens for what they find. */
const SEARCHES_USD = { openai: 10, openaiPreview: 25, anthropic: 10, gemini: 14, geminiByAnswer: 35 };

const searchPriceOf = (model: string): number => {
  if (model.startsWith('claude-')) return SEARCHES_USD.anthropic;
  if (model.endsWith('-search-preview')) return SEARCHES_USD.openaiPreview;
  if (!model.startsWith('gemini-')) return SEARCHES_USD.openai;
  return model.startsWith('gemini-2') ? SEARCHES_USD.geminiByAnswer : SEARCHES_USD.gemini;
};

/** For a thousand, with any model of OpenAI's that answers. */
const FILE_SEARCHES_USD = 2.5;

/** Of OpenAI's models those that do not reason: the preview tool costs more with them, and what it finds nothing. */
const NO_REASONING = /^gpt-(?:4|3\.5)/;

/** Embeddings, what looks for harm, and lines that hold the price of a part. */
const SEARCHES_NOTHING = /embedding|moderation|\[audio\]/;

const isOpenAi = (model: string): boolean => /^(?:gpt-|o\d)/.test(model);

/** From where on a prompt costs more, and how many times as much where that is not as usual. */
function longPromptOf(model: string): Pick<ModelPrice, 'long_prompt_tokens' | 'long_prompt_factor'> {
  if (/^gpt-(?:5\.[4-6]|6)/.test(model)) return { long_prompt_tokens: 272_000 };
  if (/^claude-haiku-5-5/.test(model)) return { long_prompt_tokens: 100_000, long_prompt_factor: 5 };
  return /^gemini-[\d.]+-pro/.test(model) ? { long_prompt_tokens: 200_000 } : {};
}

/** Of the input price, for what is written to Anthropic's cache for an hour, or to OpenAI's for twelve; for less it is 1.25. */
function longWriteFactorOf(model: string): number | null {
  if (model.startsWith('claude-')) return 2;
  return model.startsWith('gpt-6.2-') ? 2.5 : null;
}

const toPrice = ([model, input, output, cached, write]: Line): ModelPrice => {
  const longWriteFactor = longWriteFactorOf(model);
  return {
    model,
    input_usd: input,
    output_usd: output,
    cached_input_usd: cached ?? null,
    cache_write_usd: write ?? null,
    ...(longWriteFactor !== null && { cache_write_hour_usd: input * longWriteFactor }),
    search_usd: SEARCHES_NOTHING.test(model) ? null : searchPriceOf(model),
    ...(isOpenAi(model) && { file_search_usd: FILE_SEARCHES_USD }),
    ...(NO_REASONING.test(model) && { search_preview_usd: SEARCHES_USD.openaiPreview }),
    ...longPromptOf(model),
  };
};

/** Version 0: nobody has edited it. */
export const DEFAULT_PRICES: PriceTable = {
  version: 0,
  updated_at_ms: null,
  updated_by: null,
  models: [...OPENAI, ...ANTHROPIC, ...usLines(), ...GEMINI, ...soundLines()].map(toPrice),
};
