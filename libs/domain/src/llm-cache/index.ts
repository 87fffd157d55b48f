/** The LLM cache: what makes two requests equal, what may be kept of an answer, and where it is kept in memory. */
export { type CacheIdentity, type CacheScope, cacheIdentity } from './cache-key.js';
export { SCOPE_PROMPT_CHARS_MAX, SCOPE_PROMPT_WORDS_MAX } from './cache-prompt.js';
export { answerHeaders, type CacheWhere } from './cache-where.js';
export {
  type Cacheability,
  cacheability,
  isStateful,
} from './cacheability.js';
export { compileEntryPattern, compileGlob, type NamedEntry } from './entry-names.js';
export {
  compareEntryPlaces,
  type EntryPlace,
  type EntryUse,
  encodeEntryCursor,
  readEntryQuery,
  toEntryView,
} from './entry-page.js';
export { encodeMatchCursor, type MatchQuery, readMatchQuery } from './match-page.js';
export { entryBytes, entryBytesMax } from './memory-bytes.js';
export { MemoryLlmCache, type MemoryLlmCacheOptions } from './memory-llm-cache.js';
export { VectorArena } from './vector-arena.js';
export {
  cosineOf,
  dot,
  isUsableVector,
  lowestHit,
  toCosine,
  VECTOR_DIMENSION_MAX,
} from './vector-math.js';
export { type Candidate, type VectorOwner, VectorSet } from './vector-set.js';
