import type { Usage } from '#contracts';
import { readCharge } from '../charge.js';
import { asList, asRecord, asText, asTokens, type JsonRecord, tellsNoCount } from '../read-json.js';
import { usageOf } from '../usage.js';

/**
 * The vendor's input excludes what it read from and wrote to its cache; ours includes both. Nor do its own sums hold what it
 * wrote to sum up a long conversation, or had an advisor say: that stands among the iterations, and is paid for as well.
 */
export function readMessageUsage(value: unknown): Usage | null {
  const usage = asRecord(value);
  if (!usage || (asTokens(usage.input_tokens) === undefined && asTokens(usage.output_tokens) === undefined)) {
    return null;
  }
  const parts = [usage, ...asList(usage.iterations).map(asRecord).filter(isBeside)];
  if (parts.some((part) => tellsNoCount(...SUMMED.map((name) => part?.[name])))) return null;
  const sum = (name: string) => parts.reduce((total, part) => total + (asTokens(part?.[name]) ?? 0), 0);
  const cachedInput = sum('cache_read_input_tokens');
  const cacheWrite = sum('cache_creation_input_tokens');
  return usageOf({
    input: sum('input_tokens') + cachedInput + cacheWrite,
    cachedInput,
    cacheWrite,
    cacheWriteHour: parts.reduce((total, part) => total + writtenForAnHour(part), 0),
    output: sum('output_tokens'),
    reasoning: asTokens(asRecord(usage.output_tokens_details)?.thinking_tokens),
    searches: asTokens(asRecord(usage.server_tool_use)?.web_search_requests),
    charged: readCharge(usage),
  });
}

const SUMMED = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'];

const writtenForAnHour = (part: JsonRecord | undefined): number =>
  asTokens(asRecord(part?.cache_creation)?.ephemeral_1h_input_tokens) ?? 0;

/** An iteration that the vendor's own sums leave out. */
const isBeside = (iteration: JsonRecord | undefined): boolean => BESIDE.has(asText(iteration?.type));
const BESIDE = new Set(['compaction', 'advisor_message']);

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
const OTHER_COUNTS = [
  'cache_creation',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
  'iterations',
  'service_tier',
  'speed',
  'inference_geo',
  // What others who speak this API say of its cost.
  'cost',
  'cost_details',
  'cost_in_usd_ticks',
  'is_byok',
];
