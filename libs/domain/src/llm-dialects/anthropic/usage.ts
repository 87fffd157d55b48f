import type { Usage } from '#contracts';
import { asCount, asRecord, type JsonRecord } from '../read-json.js';
import { usageOf } from '../usage.js';

/** The vendor's input excludes what it read from and wrote to its cache; ours includes both. */
export function readMessageUsage(value: unknown): Usage | null {
  const usage = asRecord(value);
  if (!usage || (asCount(usage.input_tokens) === undefined && asCount(usage.output_tokens) === undefined)) {
    return null;
  }
  const cachedInput = asCount(usage.cache_read_input_tokens) ?? 0;
  const cacheWrite = asCount(usage.cache_creation_input_tokens) ?? 0;
  return usageOf({
    input: (asCount(usage.input_tokens) ?? 0) + cachedInput + cacheWrite,
    cachedInput,
    cacheWrite,
    output: asCount(usage.output_tokens),
    reasoning: asCount(asRecord(usage.output_tokens_details)?.thinking_tokens),
    searches: asCount(asRecord(usage.server_tool_use)?.web_search_requests),
  });
}

/** The counts of a stream's later event over those of an earlier one; they are totals, and absent or null if unchanged. */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  const merged: JsonRecord = { ...earlier };
  for (const [name, value] of Object.entries(asRecord(later) ?? {})) {
    if (COUNTS.has(name) && value !== null && value !== undefined) merged[name] = value;
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
