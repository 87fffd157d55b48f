/** From tokens to money, and from a request to the tokens it may use. */
import type { ModelPrice, Usage } from '#contracts';

/** Prices are used to a millionth of a dollar per million tokens: a pico-dollar a token. */
const PICO_PER_MICRO = 1_000_000;
/** A dollar for a thousand searches, in pico-dollars a search. */
const PICO_PER_SEARCH = 1_000_000_000;

/** Of a long prompt, and of the answer to it, where the price says no factor of its own. */
const LONG_INPUT_FACTOR = 2;
const LONG_OUTPUT_FACTOR = 1.5;

/** More than any model writes; what a caller asks for beyond it could no longer be summed up exactly. */
const OUTPUT_TOKENS_MAX = 1_000_000_000;

/** Bytes of JSON and text per token: English prose has 4 to 4.5, code and JSON 3 to 4, other scripts fewer characters but more bytes each. */
const BYTES_PER_TOKEN = 4;

/** For a request that sets no bound: about what an answer with a tool call or some paragraphs takes. */
export const OUTPUT_TOKENS_ESTIMATE = 1_000;

/**
 * Micro-USD, to the nearest; never negative. Exact: counts times pico-dollars are whole numbers, summed as such and
 * rounded once. Of the input, cached tokens cost `cached_input_usd` and tokens written to the vendor's cache
 * `cache_write_usd`, for an hour `cache_write_hour_usd`; output includes reasoning. Parts that a vendor reports larger than their whole are cut to it.
 *
 * @param promptTokens of the whole call, where `usage` is a part of it
 */
export function costMicroUsd(price: ModelPrice, usage: Usage, promptTokens = usage.input_tokens): number {
  const input = Math.max(0, usage.input_tokens);
  const cached = Math.min(Math.max(0, usage.cached_input_tokens), input);
  const written = Math.min(Math.max(0, usage.cache_write_tokens), input - cached);
  const forAnHour = Math.min(usage.cache_write_hour_tokens ?? 0, written);
  const searches = usage.search_count ?? 0;
  const previews = Math.min(usage.search_preview_count ?? 0, searches);
  const isLong = promptTokens > (price.long_prompt_tokens ?? Number.POSITIVE_INFINITY);
  const counts = [
    input - cached - written,
    cached,
    written - forAnHour,
    forAnHour,
    Math.max(0, usage.output_tokens),
    searches - previews,
    previews,
    usage.file_search_count ?? 0,
  ];
  const rates = ratesOf(price, isLong);
  let pico = 0;
  for (let at = 0; at < counts.length; at += 1) pico += (counts[at] as number) * (rates[at] as number);
  if (pico < Number.MAX_SAFE_INTEGER) return Math.floor(pico / PICO_PER_MICRO + 0.5);
  // Above 9,000 dollars for one call; the sum above has lost its last digits.
  const exact = counts.reduce((sum, count, at) => sum + BigInt(count) * BigInt(rates[at] as number), 0n);
  return Number((exact + BigInt(PICO_PER_MICRO / 2)) / BigInt(PICO_PER_MICRO));
}

/** Pico-dollars for one of each of `costMicroUsd`'s counts, in their order. */
function ratesOf(price: ModelPrice, isLong: boolean): number[] {
  const inputFactor = isLong ? (price.long_prompt_factor ?? LONG_INPUT_FACTOR) : 1;
  const outputFactor = isLong ? (price.long_prompt_factor ?? LONG_OUTPUT_FACTOR) : 1;
  const writeUsd = price.cache_write_usd ?? price.input_usd;
  return [
    picoPerToken(price.input_usd * inputFactor),
    picoPerToken((price.cached_input_usd ?? price.input_usd) * inputFactor),
    picoPerToken(writeUsd * inputFactor),
    picoPerToken((price.cache_write_hour_usd ?? writeUsd) * inputFactor),
    picoPerToken(price.output_usd * outputFactor),
    picoPerSearch(price.search_usd),
    picoPerSearch(price.search_preview_usd ?? price.search_usd),
    picoPerSearch(price.file_search_usd),
  ];
}

/** A part of a usage, with the name that its line in the price table carries; "" for text and all else. */
export interface UsagePart {
  name: '' | 'audio' | 'image';
  usage: Readonly<Usage>;
}

/** What has prices of its own, apart. Of the input that was cached text is taken to be the first, which costs least. */
export function usageParts(usage: Readonly<Usage>): UsagePart[] {
  const {
    audio_input_tokens: heard = 0,
    audio_output_tokens: spoken = 0,
    image_output_tokens: drawn = 0,
  } = usage;
  if (heard + spoken + drawn === 0) return [{ name: '', usage }];
  const written = usage.input_tokens - heard;
  const cached = Math.min(usage.cached_input_tokens, written);
  const text: Usage = {
    ...usage,
    input_tokens: written,
    cached_input_tokens: cached,
    output_tokens: usage.output_tokens - spoken - drawn,
  };
  const parts: UsagePart[] = [{ name: '', usage: text }];
  if (heard + spoken > 0)
    parts.push({ name: 'audio', usage: part(heard, usage.cached_input_tokens - cached, spoken) });
  if (drawn > 0) parts.push({ name: 'image', usage: part(0, 0, drawn) });
  return parts;
}

const part = (input_tokens: number, cached_input_tokens: number, output_tokens: number): Usage => ({
  input_tokens,
  cached_input_tokens,
  cache_write_tokens: 0,
  output_tokens,
  reasoning_tokens: 0,
});

const picoPerSearch = (usdPerThousand: number | null | undefined): number =>
  Math.round((usdPerThousand ?? 0) * PICO_PER_SEARCH);

/** A dollar per million tokens is a micro-dollar a token. */
const picoPerToken = (usdPerMillion: number): number => Math.round(usdPerMillion * PICO_PER_MICRO);

/**
 * Input and output tokens a request may use at most, roughly: its bytes by the rule of thumb, and a bound on
 * its output. Too high for requests that carry files as base64, and for what the vendor has cached; what is
 * too much is given back when the real usage is known.
 * @param bodyBytes of the request, less what its pictures and recordings have beyond text of as many tokens
 */
export const estimateUsage = (bodyBytes: number, outputTokensMax: number): Usage => ({
  input_tokens: Math.max(1, Math.ceil(bodyBytes / BYTES_PER_TOKEN)),
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: Math.min(Math.max(0, Math.ceil(outputTokensMax)), OUTPUT_TOKENS_MAX),
  reasoning_tokens: 0,
});
