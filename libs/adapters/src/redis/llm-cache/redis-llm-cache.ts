/**
 * The cache that several gateways share. An exact hit is one round trip, a semantic one two; Redis slow or away is a
 * miss within `CACHE_WAIT_MS_MAX` and never an error. What is read is believed only if it is what this code wrote under
 * that name; anything else is a miss and removed. An entry's age is the greater of what this gateway's clock and that of
 * Redis make of it.
 *
 * An entry, its vector and its place in the tenant's index may lie on different nodes, so they are not written as one. The
 * index is what counts: it is told first, and takes a name only in the epoch in which the answer was asked for. An entry is served
 * only if the index knows it, of the same epoch: both are asked at once, so that neither costs a round trip.
 */
import { Cluster, type Redis } from 'ioredis';
import {
  CACHE_CANDIDATES_MAX,
  CACHE_WAIT_MS_MAX,
  type CacheBackendStats,
  type CacheEntry,
  type CacheEntryView,
  type CacheEpoch,
  type CacheHit,
  type CachePut,
  type Cosine,
  type LlmCache,
  type Page,
  type PageQuery,
  type SemanticQuery,
} from '#contracts';
import { cosineOf, entryBytes, entryBytesMax, isUsableVector, lowestHit } from '#domain/llm-cache';
import type { Clock } from '#kernel';
import type { RedisConnection } from '../connect-redis.js';
import type { RedisFailure } from '../redis-failure.js';
import { replyInTime } from '../reply-in-time.js';
import { CacheIndex } from './cache-index.js';
import { CacheLink } from './cache-link.js';
import { CacheNames } from './cache-names.js';
import {
  CacheValues,
  type EntryMeta,
  NO_EPOCH,
  readVector,
  type StoredEntry,
  toEntry,
  vectorBlob,
  vectorDigest,
} from './cache-values.js';
import { type FoundVector, QueryEngine } from './query-engine.js';

const KEY_PREFIX = 'observatory:llm_cache';
/** Of one scope read without a query engine, the newest: more could not be read in time. */
const SCOPE_VECTORS_MAX = 1_000;
const SCOPE_BYTES_MAX = 4_194_304;

export interface RedisLlmCacheOptions {
  /** Of `connectRedis` or `connectRedisCluster`; opened when first needed. */
  connection: RedisConnection<Redis | Cluster>;
  clock: Clock;
  /** Of one tenant. Beyond either, the least recently used leave. */
  entriesMax: number;
  bytesMax: number;
  exactTtlMs: number;
  semanticTtlMs: number;
  /** Before every key; without braces. */
  keyPrefix?: string;
  /** Shared by all gateways: what others write into this Redis is then not believed. */
  secret?: string;
  /** Most a look-up waits. */
  waitMs?: number;
  /** False: the connection stays the caller's to close. */
  closesConnection?: boolean;
  /** Told of each request of Redis that failed or was not answered in time; safe to log. */
  onFailure?: (failure: RedisFailure) => void;
  /** Tests only: instead of the clock of Redis. Expiry stays real. */
  redisClock?: Clock;
}

interface FoundEntry {
  stored: StoredEntry;
  ageMs: number;
}

interface Candidate {
  key: string;
  cosine: Cosine;
  blob: Buffer;
}

export class RedisLlmCache implements LlmCache {
  readonly kind = 'redis';
  readonly #options: RedisLlmCacheOptions;
  readonly #link: CacheLink;
  readonly #names: CacheNames;
  readonly #values: CacheValues;
  readonly #index: CacheIndex;
  readonly #engine: QueryEngine;
  readonly waitMs: number;
  #refusedCount = 0;

  /** @throws RangeError for a prefix with braces */
  constructor(options: RedisLlmCacheOptions) {
    this.#options = options;
    this.#names = new CacheNames(options.keyPrefix ?? KEY_PREFIX);
    this.#values = new CacheValues(options.secret ?? '');
    this.#link = new CacheLink(options);
    const { entriesMax, bytesMax, exactTtlMs, semanticTtlMs } = options;
    const lifetimeMs = Math.max(exactTtlMs, semanticTtlMs);
    this.waitMs = options.waitMs ?? CACHE_WAIT_MS_MAX;
    const { waitMs } = this;
    this.#index = new CacheIndex(this.#link, this.#names, { entriesMax, bytesMax, lifetimeMs, waitMs });
    this.#engine = new QueryEngine(this.#link, this.#names, !(options.connection.client instanceof Cluster));
  }

  get isDegraded(): boolean {
    return this.#link.isDegraded;
  }

  /** Requests of Redis that failed or were not answered in time. */
  get failureCount(): number {
    return this.#link.failureCount;
  }

  /** Values that were removed because they were not ours, damaged or left behind. */
  get removedCount(): number {
    return this.#index.removedCount;
  }

  /** Entries refused because they were too large. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  async get(tenantId: string, key: string): Promise<CacheHit | null> {
    if (!CacheNames.isKey(key)) return null;
    const [found = 'unknown'] = await this.#readEntries(tenantId, [key]);
    if (found === 'gone' || found === 'unknown' || found.ageMs >= this.#options.exactTtlMs) return null;
    void this.#index.touch(tenantId, key);
    return { entry: toEntry(tenantId, key, found.stored), age_ms: found.ageMs, cosine: null };
  }

  async semanticSearch(query: SemanticQuery): Promise<CacheHit | null> {
    const waitMs = Math.min(this.waitMs, query.waitMs ?? this.waitMs);
    if (waitMs <= 0 || !isUsableVector(query.vector)) return null;
    let isOver = false;
    const search = this.#search(query, () => isOver);
    return replyInTime(search, waitMs).catch(() => {
      isOver = true;
      return null;
    });
  }

  epoch(tenantId: string): Promise<CacheEpoch | null> {
    return this.#index.epoch(tenantId, this.waitMs);
  }

  async put(entry: CacheEntry, epoch?: CacheEpoch): Promise<CachePut> {
    const { tenant_id: tenant, key, scope } = entry;
    const { exactTtlMs, semanticTtlMs, bytesMax } = this.#options;
    if (!CacheNames.isKey(key) || !Number.isFinite(entry.created_at_ms)) return 'unusable';
    const vector = scope !== null && entry.vector && isUsableVector(entry.vector) ? entry.vector : null;
    const byteCount = entryBytes(entry, vector?.values.length ?? 0);
    if (byteCount > entryBytesMax(bytesMax)) {
      this.#refusedCount += 1;
      return 'too_large';
    }
    const longestMs = Math.max(exactTtlMs, semanticTtlMs);
    const lifetimeMs = vector === null ? exactTtlMs : longestMs;
    const leftMs = Math.ceil(lifetimeMs - Math.max(0, this.#options.clock.nowMs() - entry.created_at_ms));
    if (leftMs <= 0) return 'kept';
    const name = this.#names.entry(tenant, key);
    // A copy: the caller's numbers may be written to before they have been sent.
    const blob = vector === null ? null : Buffer.from(vectorBlob(vector));
    const value = this.#values.write(name, entry, {
      epoch: epoch ?? NO_EPOCH,
      lifetime_ms: lifetimeMs,
      vector_digest: blob === null ? null : vectorDigest(blob),
    });
    const scopeTag = scope === null ? null : this.#names.scopeTag(tenant, scope);
    const meta: EntryMeta = {
      ...entry,
      model: entry.answer.model,
      dialect: entry.answer.dialect,
      scope_tag: scopeTag,
      has_vector: vector !== null,
      byte_count: byteCount,
    };
    const isRegistered = await this.#index.register(tenant, key, leftMs, meta, epoch).catch(() => null);
    if (!isRegistered) return isRegistered === null ? 'backend_away' : 'outdated';
    const writes: Promise<unknown>[] = [
      this.#link.ask(name, this.#index.writeWaitMs, () => this.#link.client.set(name, value, 'PX', leftMs)),
    ];
    if (scopeTag !== null) {
      const names = [this.#names.scope(scopeTag), this.#names.vectorsOf(scopeTag) + key] as const;
      const field = vector === null ? '' : CacheNames.vectorField(vector.model_id, vector.values.length);
      const values = [this.#link.now, key, leftMs, longestMs, scopeTag, field, blob ?? ''];
      writes.push(this.#link.script('PutVector', this.#index.writeWaitMs, ...names, ...values));
    }
    const written = await Promise.allSettled(writes);
    return written.every(({ status }) => status === 'fulfilled') ? 'kept' : 'backend_away';
  }

  invalidate(tenantId: string, pattern: string | null, preview = false): Promise<number> {
    return this.#index.invalidate(tenantId, pattern, preview);
  }

  async evict(tenantId: string, key: string): Promise<boolean> {
    return CacheNames.isKey(key) && this.#index.evict(tenantId, key);
  }

  stats(tenantId: string): Promise<CacheBackendStats> {
    return this.#index.stats(tenantId);
  }

  entries(query: PageQuery & { tenant_id: string }): Promise<Page<CacheEntryView>> {
    return this.#index.list(query.tenant_id, query);
  }

  async close(): Promise<void> {
    if (this.#options.closesConnection ?? true) await this.#options.connection.quit();
  }

  async #search(query: SemanticQuery, isOver: () => boolean): Promise<CacheHit | null> {
    const { tenant_id: tenant, scope } = query;
    const scopeTag = this.#names.scopeTag(tenant, scope);
    const candidates = this.#nearest(await this.#readVectors(query, scopeTag), query, scopeTag);
    const read = await this.#readEntries(
      tenant,
      candidates.map(({ key }) => key),
    );
    for (const [index, { key, cosine, blob }] of candidates.entries()) {
      const found = read[index] ?? 'unknown';
      if (isOver()) return null;
      if (found === 'unknown') continue;
      const isItsOwn =
        found !== 'gone' && found.stored.scope === scope && found.stored.vector_digest === vectorDigest(blob);
      if (!isItsOwn) {
        // Its entry is gone or another one, and it was left behind.
        this.#index.removeVector(scopeTag, key);
        continue;
      }
      if (found.ageMs >= this.#options.semanticTtlMs) continue;
      if (!query.accept({ key, prompt: found.stored.prompt, cosine })) continue;
      if (query.serves) void this.#index.touch(tenant, key);
      return { entry: toEntry(tenant, key, found.stored), age_ms: found.ageMs, cosine };
    }
    return null;
  }

  async #readVectors({ vector }: SemanticQuery, scopeTag: string): Promise<FoundVector[]> {
    const { model_id: model, values } = vector;
    const field = CacheNames.vectorField(model, values.length);
    if (this.#engine.isReadyFor(model, values.length)) {
      const query = Buffer.from(vectorBlob(vector));
      const found = await this.#engine.search(scopeTag, field, query, CACHE_CANDIDATES_MAX, this.waitMs);
      if (found !== null) return found;
    }
    const [name, vectors] = [this.#names.scope(scopeTag), this.#names.vectorsOf(scopeTag)];
    const bounds = [SCOPE_VECTORS_MAX, SCOPE_BYTES_MAX];
    const reply = await this.#link
      .scriptOfBytes('ReadVectors', this.waitMs, name, this.#link.now, vectors, field, ...bounds)
      .catch((error) => this.#index.removeForeign(error, [name]));
    const parts = Array.isArray(reply) ? reply : [];
    const found: FoundVector[] = [];
    for (let at = 0; at + 1 < parts.length; at += 2)
      if (CacheNames.isKey(String(parts[at]))) found.push({ key: String(parts[at]), blob: parts[at + 1] });
    return found;
  }

  /** Exactly, nearest first. */
  #nearest(
    found: FoundVector[],
    { vector, hitWhenCosineAtLeast }: SemanticQuery,
    scopeTag: string,
  ): Candidate[] {
    const lowest = lowestHit(hitWhenCosineAtLeast);
    const near: Candidate[] = [];
    for (const { key, blob } of found) {
      const values = readVector(blob, vector.values.length);
      const cosine = values === null ? Number.NaN : cosineOf(vector.values, values);
      // Truncated, or bytes that are no numbers.
      if (Number.isNaN(cosine)) this.#index.removeVector(scopeTag, key);
      else if (cosine >= lowest) near.push({ key, blob, cosine: cosine as Cosine });
    }
    return near.sort((one, other) => other.cosine - one.cosine).slice(0, CACHE_CANDIDATES_MAX);
  }

  /** Never rejects. What the index does not know is gone; what it knows of another epoch is about to be replaced, or was refused. */
  async #readEntries(
    tenantId: string,
    keys: readonly string[],
  ): Promise<(FoundEntry | 'gone' | 'unknown')[]> {
    if (keys.length === 0) return [];
    const [epochs, ...entries] = await Promise.all([
      this.#index.known(tenantId, keys, this.waitMs),
      ...keys.map((key) => this.#readEntry(tenantId, key)),
    ]);
    return entries.map((found, at) => {
      if (found === 'gone' || found === 'unknown') return found;
      if (epochs[at] === found.stored.epoch) return found;
      if (epochs[at] !== '') return 'unknown';
      this.#index.removeUnknown(tenantId, keys[at] as string);
      return 'gone';
    });
  }

  /** Never rejects. What is there and not ours is removed, and thus gone; `unknown`: Redis did not say, or not in time. */
  async #readEntry(tenantId: string, key: string): Promise<FoundEntry | 'gone' | 'unknown'> {
    const name = this.#names.entry(tenantId, key);
    const reply = await this.#link.script('Read', this.waitMs, name).catch((error) => {
      this.#index.removeForeign(error, [name]);
      return 'unknown' as const;
    });
    if (!Array.isArray(reply)) return reply === 'unknown' ? reply : 'gone';
    const stored = this.#values.read(name, String(reply[0]));
    if (stored === null) {
      this.#index.removeDamaged(tenantId, key);
      return 'gone';
    }
    const leftMs = Number(reply[1]);
    // Of what lives for ever, which is not how it was written, Redis says -1; what lives for longer than it was written to has seen
    // Redis' clock set back: it is as old as it may become.
    const byRedisMs = stored.lifetime_ms - (leftMs > stored.lifetime_ms ? 0 : leftMs);
    const ageMs = Math.max(0, this.#options.clock.nowMs() - stored.created_at_ms, byRedisMs);
    return { stored, ageMs };
  }
}
