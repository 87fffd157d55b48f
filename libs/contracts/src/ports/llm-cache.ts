/**
 * Where answers are kept. A tenant's entries are reached with that tenant's id only: keys, scopes and patterns of
 * another tenant find nothing. A backend that is slow or away is a miss, within `CACHE_WAIT_MS_MAX`, and never an error, but
 * for `invalidate` and `evict`: what could not be removed must not be said to be gone.
 */
import type { CachedAnswer, CacheEntryView, NotStoredReason } from '../llm-cache.js';
import type { Cosine } from '../similarity.js';
import type { Page, PageQuery } from './store.js';

export const CACHE_WAIT_MS_MAX = 20;

/** Vectors of another model or dimension are ignored, not compared. */
export interface CacheVector {
  model_id: string;
  /** Unit length. */
  values: Float32Array;
}

export interface CacheEntry {
  tenant_id: string;
  /** 64 hex digits, of the whole canonical request. */
  key: string;
  /** 64 hex digits, of everything but the last user text; null: no semantic match may use it. */
  scope: string | null;
  agent_id: string;
  upstream: string;
  /** The last user text, for vetoes; "" without a scope. */
  prompt: string;
  vector: CacheVector | null;
  answer: CachedAnswer;
  /** Wall clock: processes share entries. */
  created_at_ms: number;
  /** What the filling call cost and took; null: the model has no price. */
  cost_micro_usd: number | null;
  duration_ms: number;
}

export interface CacheHit {
  /** Without its vector. May be shared: not to be written to. */
  entry: CacheEntry;
  age_ms: number;
  /** Null for an exact match. */
  cosine: Cosine | null;
}

export interface SemanticQuery {
  tenant_id: string;
  scope: string;
  vector: CacheVector;
  /** Inclusive. */
  hitWhenCosineAtLeast: Cosine;
  /**
   * Called with candidates at or above the threshold, nearest first (at most `CACHE_CANDIDATES_MAX`), until one is
   * accepted. Must be cheap and must not throw.
   */
  accept: (candidate: { key: string; prompt: string; cosine: Cosine }) => boolean;
  /** A match counts and is marked as just used. False where it is only compared with a fresh answer. */
  serves: boolean;
  /** What is left of the `waitMs` of the cache, where other questions of the same look-up have taken some of it. */
  waitMs?: number;
}

export const CACHE_CANDIDATES_MAX = 8;

/**
 * Of a tenant's answers: another one each time some of them are thrown out, by whichever gateway. Opaque; what cannot be told
 * apart from a later one is a later one.
 */
export type CacheEpoch = string;

export type CachePut =
  | 'kept'
  | Extract<NotStoredReason, 'outdated' | 'too_large' | 'backend_away' | 'unusable'>;

export interface CacheBackendStats {
  total_entries: number;
  total_bytes: number;
}

export interface LlmCache {
  readonly kind: 'memory' | 'redis';
  /** The backend, or a part of it, does not answer now. */
  readonly isDegraded: boolean;
  /** Most that a look-up waits for the backend; each question by itself waits no longer. */
  readonly waitMs: number;
  /** Exact, younger than the exact TTL. A hit counts and is marked as just used. */
  get(tenantId: string, key: string): Promise<CacheHit | null>;
  /** Best accepted match of this scope, younger than the semantic TTL. */
  semanticSearch(query: SemanticQuery): Promise<CacheHit | null>;
  /** Asked before the upstream is: what it answers may be put in this epoch. Null: it cannot be told now. */
  epoch(tenantId: string): Promise<CacheEpoch | null>;
  /**
   * The last write of an epoch wins. What is not kept is served to nobody.
   * @param epoch in which the answer was asked for; absent: it was under way at no time
   */
  put(entry: CacheEntry, epoch?: CacheEpoch): Promise<CachePut>;
  /**
   * Counts those that match, and removes them unless it is a preview: then the tenant's epoch is over, too. See `cacheInvalidateSchema` for the glob.
   * @throws ObservatoryError cache_unavailable: some may be left
   */
  invalidate(tenantId: string, pattern: string | null, preview?: boolean): Promise<number>;
  /** Ends the tenant's epoch. @throws ObservatoryError cache_unavailable */
  evict(tenantId: string, key: string): Promise<boolean>;
  /** Of this tenant. */
  stats(tenantId: string): Promise<CacheBackendStats>;
  /** Most hits first; at most `limit`. */
  entries(query: PageQuery & { tenant_id: string }): Promise<Page<CacheEntryView>>;
  close(): Promise<void>;
}
