/** Top-level fields of a request that cannot change its answer, and so are in no key. Nothing else is left out. */
import type { DialectName } from '#contracts';
import { MESSAGES_FIELDS_EXCLUDED } from './anthropic/canonical-request.js';
import { GEMINI_FIELDS_EXCLUDED } from './gemini/canonical-request.js';
import { CHAT_FIELDS_EXCLUDED } from './openai-chat/canonical-request.js';
import { RESPONSES_FIELDS_EXCLUDED } from './openai-responses/canonical-request.js';

export const FIELDS_EXCLUDED: Readonly<Record<DialectName, readonly string[]>> = {
  'openai-chat': CHAT_FIELDS_EXCLUDED,
  'openai-responses': RESPONSES_FIELDS_EXCLUDED,
  anthropic: MESSAGES_FIELDS_EXCLUDED,
  gemini: GEMINI_FIELDS_EXCLUDED,
};
