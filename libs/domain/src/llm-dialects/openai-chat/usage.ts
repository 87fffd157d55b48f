import type { Usage } from '#contracts';
import { asCount, asRecord } from '../read-json.js';
import { usageOf } from '../usage.js';

/**
 * Null when the vendor reported none. Some compatible vendors leave reasoning out of `completion_tokens` and count
 * it only in the total, which is what they bill: then the total decides.
 */
export function readChatUsage(value: unknown): Usage | null {
  const usage = asRecord(value);
  const input = asCount(usage?.prompt_tokens);
  const completion = asCount(usage?.completion_tokens);
  if (!usage || (input === undefined && completion === undefined)) return null;
  const inputDetails = asRecord(usage.prompt_tokens_details);
  const total = asCount(usage.total_tokens) ?? 0;
  return usageOf({
    input,
    cachedInput: asCount(inputDetails?.cached_tokens) ?? asCount(usage.prompt_cache_hit_tokens),
    cacheWrite: asCount(inputDetails?.cache_write_tokens),
    output: Math.max(completion ?? 0, total - (input ?? 0)),
    reasoning: asCount(asRecord(usage.completion_tokens_details)?.reasoning_tokens),
  });
}
