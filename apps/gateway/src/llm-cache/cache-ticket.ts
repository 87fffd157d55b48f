/** What the cache knows of a call between its look-up and its end. */
import type { CacheHit, CacheVector, CanonicalRequest } from '#contracts';
import type { CacheIdentity } from '#domain/llm-cache';
import type { Landing } from './cache-flights.js';

export interface CacheTicket {
  canonical: CanonicalRequest;
  identity: CacheIdentity;
  /** Of the prompt; null: not looked for, or not to be had. */
  vector: CacheVector | null;
  /** Tells those who wait for this call's answer. */
  land: ((landing: Landing | null) => void) | undefined;
  /** Shadow mode: what would have been served. */
  shadow: CacheHit | null;
}
