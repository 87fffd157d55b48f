/**
 * Top-level fields of a request that cannot change its answer, and so are in no key: how it is delivered, for whom, and
 * what the vendor keeps or bills. Nothing else is left out.
 */
import type { DialectName } from '#contracts';

const OPENAI = [
  'stream',
  'stream_options',
  'user',
  'safety_identifier',
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
];

export const FIELDS_EXCLUDED: Readonly<Record<DialectName, readonly string[]>> = {
  'openai-chat': OPENAI,
  'openai-responses': OPENAI,
  // The last is the vendor's own prompt cache.
  anthropic: ['stream', 'metadata', 'cache_control'],
  // Tags for the bill.
  gemini: ['labels'],
  'gemini-interactions': ['stream', 'labels'],
};
