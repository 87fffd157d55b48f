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
 * The counts of a stream's later event over those of an earlier one; they are totals, and absent or null if unchanged. One that
 * is less than before says nothing: some who speak this API tell of the input at the beginning, and of 0 at the end.
 */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  const merged: JsonRecord = { ...earlier };
  for (const [name, value] of Object.entries(asRecord(later) ?? {})) {
    const isLess = (asTokens(value) ?? Number.POSITIVE_INFINITY) < (asTokens(merged[name]) ?? 0);
    if (COUNTS.has(name) && value !== null && value !== undefined && !isLess) merged[name] = value;
  }
  return merged;
}

const COUNTS = new Set([
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
]);
