/** The LLM cache: what makes two requests equal, what may be kept of an answer, and where it is kept in memory. */
export { type CacheIdentity, type CacheScope, cacheIdentity, cacheKey, cacheScope } from './cache-key.js';
export { SCOPE_PROMPT_CHARS_MAX, SCOPE_PROMPT_WORDS_MAX } from './cache-prompt.js';
export { answerHeaders, type CacheWhere } from './cache-where.js';
export { type Cacheability, cacheability, NOT_STORED_REASONS, type NotStoredReason } from './cacheability.js';
