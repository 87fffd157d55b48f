import type { Usage } from '#contracts';
import { readCharge } from '../charge.js';
import { asList, asRecord, asTokens, type JsonRecord, tellsNoCount } from '../read-json.js';
import { usageOf } from '../usage.js';

/** Models that search the web before each answer, and say nothing of it: `gpt-4o-search-preview`, `gpt-5-search-api`. */
const ALWAYS_SEARCHES = /-search-(?:preview|api)(?:-|$)/;

/** Assumed: an answer takes one search, as OpenAI charges for them by the call. */
export const searchesBy = (model: string | null): number => (ALWAYS_SEARCHES.test(model ?? '') ? 1 : 0);

/**
 * Null when the vendor reported none, or one that is no count. Some compatible vendors leave reasoning out of `completion_tokens` and count
 * it only in the total, which is what they bill: then the total decides.
 */
export function readChatUsage(value: unknown, searches = 0): Usage | null {
  const usage = asRecord(value);
  const input = asTokens(usage?.prompt_tokens);
  const completion = asTokens(usage?.completion_tokens);
  if (!usage || (input === undefined && completion === undefined) || isMistaken(usage)) return null;
  const inputDetails = asRecord(usage.prompt_tokens_details);
  const outputDetails = asRecord(usage.completion_tokens_details);
  const total = asTokens(usage.total_tokens) ?? 0;
  return usageOf({
    input,
    // In DeepSeek's place, then in Moonshot's.
    cachedInput:
      asTokens(inputDetails?.cached_tokens) ??
      asTokens(usage.prompt_cache_hit_tokens) ??
      asTokens(usage.cached_tokens),
    cacheWrite: asTokens(inputDetails?.cache_write_tokens),
    output: Math.max(completion ?? 0, total - (input ?? 0)),
    reasoning: asTokens(outputDetails?.reasoning_tokens),
    audioInput: asTokens(inputDetails?.audio_tokens),
    audioOutput: asTokens(outputDetails?.audio_tokens),
    imageOutput: asTokens(outputDetails?.image_tokens),
    searches,
    charged: readCharge(usage),
  });
}

const isMistaken = ({ prompt_tokens, completion_tokens }: JsonRecord): boolean =>
  tellsNoCount(prompt_tokens, completion_tokens);

/**
 * Of a stream, in which some vendors tell it unasked in a place of their own: Groq in `x_groq`, Moonshot in the last choice.
 *
 * @param before what the chunks before told, which holds where this one tells nothing
 */
export function readChunkUsage(chunk: JsonRecord, before: Usage | null): Usage | null {
  const places = [chunk, asRecord(chunk.x_groq), ...asList(chunk.choices).map(asRecord)];
  for (const place of places) {
    const usage = readChatUsage(place?.usage);
    if (usage !== null || isMistaken(asRecord(place?.usage) ?? {})) return usage;
  }
  return before;
}
