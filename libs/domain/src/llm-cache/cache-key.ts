/**
 * The key of an exact match: the digest of the digests of everything that can change an answer, as the seed's revised
 * formula (section 3.1) lists it, with tenant and upstream before them and all other fields (`rest`) behind. The scope
 * of a semantic match is the same of everything but the last user text, and comes with it at no cost: similar
 * questions in different contexts are different questions.
 */
import type { CanonicalRequest } from '#contracts';
import { lastUserText } from './cache-prompt.js';
import { type CacheWhere, whereDigests } from './cache-where.js';
import { canonicalHash, messagesHash, sha256 } from './canonical-hash.js';

/** Go up with every change to what they cover or how: old entries are then never found again. */
const KEY_VERSION = 'key-1';
const SCOPE_VERSION = 'scope-1';

export interface CacheScope {
  /** 64 hex digits. */
  scope: string;
  /** The last user text, as it came. */
  prompt: string;
}

export interface CacheIdentity {
  /** 64 hex digits. */
  key: string;
  /**
   * Null: no semantic match may answer this request, and it may answer none. Worked out by whoever asks, since an exact hit
   * has no use for it; until then the whole request is held.
   */
  scope(): CacheScope | null;
}

/**
 * Null: the request must not be answered from the cache, because numbers in it are beyond what JSON.parse can hold.
 * Reads the request once; 100 kB take a fraction of a millisecond, most of it SHA-256.
 */
export function cacheIdentity(request: CanonicalRequest, where: CacheWhere): CacheIdentity | null {
  const { messages } = request;
  const context = digestsOf(request, where);
  const last = messagesHash(messages.slice(-1));
  if (context === null || last === null) return null;
  return { key: sha256(KEY_VERSION + context + last), scope: () => scopeOf(request, context) };
}

function scopeOf(request: CanonicalRequest, context: string): CacheScope | null {
  const last = lastUserText(request);
  if (last === null) return null;
  const before = messagesHash([last.before]);
  return before === null ? null : { scope: sha256(SCOPE_VERSION + context + before), prompt: last.prompt };
}

/** Of all but the last message, one after the other; each is 64 digits, so none can run into the next. */
function digestsOf(request: CanonicalRequest, where: CacheWhere): string | null {
  const digests = [
    ...whereDigests(where),
    canonicalHash(request.model),
    messagesHash(request.system),
    // Not rounded to two decimals, as the seed has it: 0.001 is not 0, and two temperatures that differ anywhere must
    // not share an answer.
    canonicalHash(request.temperature),
    canonicalHash(request.tools),
    canonicalHash(request.tool_choice),
    canonicalHash(request.max_tokens),
    canonicalHash(request.rest),
    messagesHash(request.messages.slice(0, -1)),
  ];
  return digests.includes(null) ? null : digests.join('');
}
