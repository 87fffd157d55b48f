import type { Usage } from '#contracts';
import { asRecord, asTokens, type JsonRecord } from '../read-json.js';
import { usageOf } from '../usage.js';

/** The vendor's input excludes what it read from and wrote to its cache; ours includes both. */
export function readMessageUsage(value: unknown): Usage | null {
  const usage = asRecord(value);
  if (!usage || (asTokens(usage.input_tokens) === undefined && asTokens(usage.output_tokens) === undefined)) {
    return null;
  }
  const cachedInput = asTokens(usage.cache_read_input_tokens) ?? 0;
  const cacheWrite = asTokens(usage.cache_creation_input_tokens) ?? 0;
  return usageOf({
    input: (asTokens(usage.input_tokens) ?? 0) + cachedInput + cacheWrite,
    cachedInput,
    cacheWrite,
    output: asTokens(usage.output_tokens),
    reasoning: asTokens(asRecord(usage.output_tokens_details)?.thinking_tokens),
    searches: asTokens(asRecord(usage.server_tool_use)?.web_search_requests),
  });
}

/**
 * The counts of a stream's later event over those of an earlier one; they are totals, and absent or null if unchanged. Some who
 * speak this API tell of their input at the beginning, and of none at the end.
 */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  const counts = asRecord(later) ?? {};
  const tellsInput = INPUT_COUNTS.some((name) => asTokens(counts[name]));
  const merged: JsonRecord = { ...earlier };
  for (const name of tellsInput ? [...INPUT_COUNTS, ...OTHER_COUNTS] : OTHER_COUNTS)
    merged[name] = counts[name] ?? merged[name];
  return merged;
}

const INPUT_COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
const OTHER_COUNTS = ['output_tokens', 'output_tokens_details', 'server_tool_use'];
