/** What the cache knows of a call between its look-up and its end. */
import type { CacheHit, CacheVector, CanonicalRequest } from '#contracts';
import type { CacheScope } from '#domain/llm-cache';
import type { Landing } from './cache-flights.js';
import type { LookUp } from './cache-freshness.js';

export interface CacheTicket {
  /** All of the request that is still needed: the whole of it would be held for as long as the upstream takes. */
  request: Pick<CanonicalRequest, 'dialect' | 'model' | 'rest'>;
  key: string;
  /** Null: no semantic match may answer it, or it was answered without one. */
  scope: CacheScope | null;
  /** Null: found at once. */
  lookUp: LookUp | null;
  /** Of the prompt; null: not looked for, or not to be had. */
  vector: CacheVector | null;
  /** Tells those who wait for this call's answer. */
  land: ((landing: Landing | null) => void) | undefined;
  /** Shadow mode: what would have been served. */
  shadow: CacheHit | null;
}
