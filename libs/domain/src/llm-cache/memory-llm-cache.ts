/**
 * The cache of a gateway that stands alone. Bounded by entries and by bytes, over all tenants together: of the tenant that
 * has most the least recently used leaves first. All it does is done in the calling turn, so nothing comes between looking
 * and taking; the twins named `...Now` spare the hot path a promise.
 *
 * Age is counted on a time of its own, the steady clock and all that the wall clock was seen set forward, as by a machine that
 * slept: a clock set back makes nothing young again, and one that was ahead for a while ages entries early, never late.
 */
import {
  CACHE_CANDIDATES_MAX,
  type CacheBackendStats,
  type CacheEntry,
  type CacheEntryView,
  type CacheEpoch,
  type CacheHit,
  type CachePut,
  type CacheVector,
  type LlmCache,
  type Page,
  type PageQuery,
  type SemanticQuery,
} from '#contracts';
import { type Clock, LargestFirst } from '#kernel';
import { CacheEpochs } from './cache-epochs.js';
import { compileEntryPattern } from './entry-names.js';
import {
  compareEntryPlaces,
  type EntryPlace,
  encodeEntryCursor,
  readEntryQuery,
  toEntryView,
} from './entry-page.js';
import { entryBytes, entryBytesMax, VECTOR_SET_BYTES } from './memory-bytes.js';
import { type KeptEntry, type ModelVectors, TenantShelf } from './memory-entries.js';
import { VectorArena } from './vector-arena.js';
import { isUsableVector, lowestHit } from './vector-math.js';

/** Between the clocks: less is no clock that was set. Milliseconds of difference, counted at each look, would add up. */
const SET_FORWARD_MS_MIN = 1_000;
/** Looks for expired entries, at the old ends of tenants by turns, for each new one: they leave faster than new ones come. */
const SWEEP_COUNT = 4;

export interface MemoryLlmCacheOptions {
  clock: Clock;
  /** At least 1. */
  entriesMax: number;
  bytesMax: number;
  exactTtlMs: number;
  semanticTtlMs: number;
}

export class MemoryLlmCache implements LlmCache {
  readonly kind = 'memory';
  readonly isDegraded = false;
  readonly waitMs = 0;
  readonly #options: MemoryLlmCacheOptions;
  readonly #entryBytesMax: number;
  readonly #tenants = new Map<string, TenantShelf>();
  readonly #byEntries = new LargestFirst<TenantShelf>();
  readonly #byBytes = new LargestFirst<TenantShelf>();
  #shelves = this.#tenants.values();
  /** Where expired entries are looked for next. */
  #swept: TenantShelf | undefined;
  readonly #epochs = new CacheEpochs();
  readonly #arena = VectorArena.start();
  #entryCount = 0;
  #byteCount = 0;
  #evictedCount = 0;
  #refusedCount = 0;
  /** Wall clock less steady clock. */
  #offsetMs: number;
  /** By how much the wall clock was set forward, all times together. */
  #setForwardMs = 0;

  /** @throws RangeError for bounds that hold nothing */
  constructor(options: MemoryLlmCacheOptions) {
    if (!(options.entriesMax >= 1)) throw new RangeError('entriesMax must be at least 1');
    if (!(options.bytesMax >= 1)) throw new RangeError('bytesMax must be at least 1');
    this.#options = options;
    this.#entryBytesMax = entryBytesMax(options.bytesMax);
    this.#offsetMs = options.clock.nowMs() - options.clock.steadyMs();
  }

  /** Of all tenants; what has expired and was not met since is still in it. */
  get entryCount(): number {
    return this.#entryCount;
  }

  /** Of all tenants. */
  get byteCount(): number {
    return this.#byteCount;
  }

  /** Live entries that left because there was no room. */
  get evictedCount(): number {
    return this.#evictedCount;
  }

  /** Entries refused because they were too large. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  async get(tenantId: string, key: string): Promise<CacheHit | null> {
    return this.getNow(tenantId, key);
  }

  /** Hot path: about a microsecond. The hit's entry is frozen and shared. */
  getNow(tenantId: string, key: string): CacheHit | null {
    const kept = this.#tenants.get(tenantId)?.entries.get(key);
    if (kept === undefined) return null;
    const ageMs = this.#ageOf(kept);
    if (ageMs >= this.#lifetimeMs(kept)) {
      this.#remove(kept);
      return null;
    }
    if (ageMs >= this.#options.exactTtlMs) return null;
    this.#markUsed(kept);
    return { entry: kept.entry, age_ms: ageMs, cosine: null };
  }

  async semanticSearch(query: SemanticQuery): Promise<CacheHit | null> {
    return this.semanticSearchNow(query);
  }

  /** Hot path: microseconds for a scope of fifty, below a few milliseconds for one of 100,000. */
  semanticSearchNow({ tenant_id: tenant, scope, vector, ...query }: SemanticQuery): CacheHit | null {
    if (!isUsableVector(vector)) return null;
    const { model_id: model, values } = vector;
    const vectors = this.#tenants.get(tenant)?.findVectors(scope, model, values.length);
    if (vectors === undefined || vectors === null) return null;
    const isYoung = (kept: KeptEntry): boolean => this.#ageOf(kept) < this.#options.semanticTtlMs;
    const lowest = lowestHit(query.hitWhenCosineAtLeast);
    for (const { owner, cosine } of vectors.set.search(values, lowest, CACHE_CANDIDATES_MAX, isYoung)) {
      const { entry } = owner;
      if (!query.accept({ key: entry.key, prompt: entry.prompt, cosine })) continue;
      if (query.serves) this.#markUsed(owner);
      return { entry, age_ms: this.#ageOf(owner), cosine };
    }
    return null;
  }

  async epoch(tenantId: string): Promise<CacheEpoch> {
    return this.epochNow(tenantId);
  }

  /** Hot path. */
  epochNow(tenantId: string): CacheEpoch {
    return this.#epochs.of(tenantId);
  }

  async put(entry: CacheEntry, epoch?: CacheEpoch): Promise<CachePut> {
    return this.putNow(entry, epoch);
  }

  /** Copies what it keeps. A vector that no search could use is left out: the entry then matches exactly only. */
  putNow(entry: CacheEntry, epoch = this.epochNow(entry.tenant_id)): CachePut {
    if (epoch !== this.epochNow(entry.tenant_id)) return 'outdated';
    if (!Number.isFinite(entry.created_at_ms)) return 'unusable';
    const vector = entry.scope !== null && entry.vector && isUsableVector(entry.vector) ? entry.vector : null;
    const byteCount = entryBytes(entry, vector?.values.length ?? 0);
    if (byteCount > this.#entryBytesMax) {
      this.#refusedCount += 1;
      return 'too_large';
    }
    const before = this.#tenants.get(entry.tenant_id)?.entries.get(entry.key);
    if (before !== undefined) this.#remove(before);
    this.#sweep();
    this.#makeRoom(byteCount, entry.tenant_id);
    const shelf = this.#shelfOf(entry.tenant_id);
    const copy = frozenCopy(entry, shelf.tenantId);
    const kept: KeptEntry = {
      entry: copy,
      shelf,
      byteCount,
      bornMs: this.#elapsedMs() - Math.max(0, this.#options.clock.nowMs() - entry.created_at_ms),
      hitCount: 0,
      lastHitAtMs: null,
      vectors: null,
      slot: 0,
      older: null,
      newer: null,
    };
    shelf.entries.set(copy.key, kept);
    shelf.order.add(kept);
    this.#entryCount += 1;
    this.#count(shelf, byteCount);
    if (vector !== null && copy.scope !== null) this.#addVector(kept, copy.scope, vector);
    return 'kept';
  }

  async invalidate(tenantId: string, pattern: string | null, preview = false): Promise<number> {
    const matches = compileEntryPattern(pattern);
    if (!preview) this.#epochs.end(tenantId);
    let count = 0;
    for (const kept of this.#live(tenantId)) {
      const { key, agent_id, upstream, answer } = kept.entry;
      if (!matches({ key, agent_id, upstream, model: answer.model })) continue;
      count += 1;
      if (!preview) this.#remove(kept);
    }
    return count;
  }

  async evict(tenantId: string, key: string): Promise<boolean> {
    this.#epochs.end(tenantId);
    const kept = this.#tenants.get(tenantId)?.entries.get(key);
    if (kept === undefined) return false;
    const isLive = !this.#isExpired(kept);
    this.#remove(kept);
    return isLive;
  }

  async stats(tenantId: string): Promise<CacheBackendStats> {
    let count = 0;
    for (const _ of this.#live(tenantId)) count += 1;
    return { total_entries: count, total_bytes: this.#tenants.get(tenantId)?.byteCount ?? 0 };
  }

  async entries(query: PageQuery & { tenant_id: string }): Promise<Page<CacheEntryView>> {
    const { limit, behind } = readEntryQuery(query);
    /** One more than asked for tells that there is another page. */
    const first: { place: EntryPlace; kept: KeptEntry }[] = [];
    for (const kept of this.#live(query.tenant_id)) {
      const place = { hit_count: kept.hitCount, key: kept.entry.key };
      if (behind !== null && compareEntryPlaces(place, behind) <= 0) continue;
      const isLater = (at: number): boolean => {
        const other = first[at];
        return other !== undefined && compareEntryPlaces(other.place, place) > 0;
      };
      if (first.length > limit && !isLater(limit)) continue;
      let at = first.length;
      while (isLater(at - 1)) at -= 1;
      first.splice(at, 0, { place, kept });
      if (first.length > limit + 1) first.pop();
    }
    const items = first.slice(0, limit);
    const last = items.at(-1);
    return {
      items: items.map(({ kept }) =>
        toEntryView(kept.entry, {
          hit_count: kept.hitCount,
          last_hit_at_ms: kept.lastHitAtMs,
          byte_count: kept.byteCount,
          has_vector: kept.vectors !== null,
        }),
      ),
      next_cursor: first.length > limit && last !== undefined ? encodeEntryCursor(last.place) : null,
    };
  }

  async close(): Promise<void> {
    for (const { entries } of this.#tenants.values()) for (const kept of entries.values()) this.#remove(kept);
  }

  #markUsed(kept: KeptEntry): void {
    kept.hitCount += 1;
    kept.lastHitAtMs = this.#options.clock.nowMs();
    kept.shelf.order.touch(kept);
  }

  /** The tenant's, without what has expired, which leaves on the way. Those given may be removed meanwhile. */
  *#live(tenantId: string): Generator<KeptEntry> {
    for (const kept of this.#tenants.get(tenantId)?.entries.values() ?? [])
      if (this.#isExpired(kept)) this.#remove(kept);
      else yield kept;
  }

  #elapsedMs(): number {
    const { clock } = this.#options;
    const steadyMs = clock.steadyMs();
    const offsetMs = clock.nowMs() - steadyMs;
    const setMs = offsetMs - this.#offsetMs;
    if (Math.abs(setMs) >= SET_FORWARD_MS_MIN) {
      this.#offsetMs = offsetMs;
      this.#setForwardMs += Math.max(0, setMs);
    }
    return steadyMs + this.#setForwardMs;
  }

  #ageOf(kept: KeptEntry): number {
    return this.#elapsedMs() - kept.bornMs;
  }

  /** As long as some match may use it. */
  #lifetimeMs(kept: KeptEntry): number {
    const { exactTtlMs, semanticTtlMs } = this.#options;
    return kept.vectors === null ? exactTtlMs : Math.max(exactTtlMs, semanticTtlMs);
  }

  #isExpired(kept: KeptEntry): boolean {
    return this.#ageOf(kept) >= this.#lifetimeMs(kept);
  }

  #sweep(): void {
    for (let count = 0; count < SWEEP_COUNT; count += 1) {
      const oldest = this.#swept?.order.oldest;
      if (oldest && this.#isExpired(oldest)) this.#remove(oldest);
      else this.#swept = this.#nextShelf();
    }
  }

  /** Undefined after the last: then the first comes. */
  #nextShelf(): TenantShelf | undefined {
    const next = this.#shelves.next();
    if (!next.done) return next.value;
    this.#shelves = this.#tenants.values();
    return undefined;
  }

  #makeRoom(byteCount: number, tenantId: string): void {
    const { entriesMax, bytesMax } = this.#options;
    const needed = byteCount + VECTOR_SET_BYTES;
    for (;;) {
      const isFull = this.#entryCount >= entriesMax;
      if (!isFull && this.#byteCount + needed <= bytesMax) return;
      const oldest = this.#largest(tenantId, isFull ? this.#byEntries : this.#byBytes)?.order.oldest;
      if (!oldest) return;
      if (!this.#isExpired(oldest)) this.#evictedCount += 1;
      this.#remove(oldest);
    }
  }

  /** Of equal ones the tenant that needs the room. Undefined: nobody has any. */
  #largest(tenantId: string, order: LargestFirst<TenantShelf>): TenantShelf | undefined {
    const largest = order.largest();
    const own = this.#tenants.get(tenantId);
    if (largest === undefined || own === undefined) return largest;
    return order.amountOf(own) === order.amountOf(largest) ? own : largest;
  }

  #shelfOf(tenantId: string): TenantShelf {
    let shelf = this.#tenants.get(tenantId);
    if (shelf === undefined) {
      shelf = new TenantShelf(tenantId, this.#arena);
      this.#tenants.set(tenantId, shelf);
    }
    return shelf;
  }

  #addVector(kept: KeptEntry, scope: string, { model_id: model, values }: CacheVector): void {
    let vectors: ModelVectors | null = kept.shelf.findVectors(scope, model, values.length);
    if (vectors === null) {
      vectors = kept.shelf.addVectors(scope, model, values.length);
      this.#count(kept.shelf, VECTOR_SET_BYTES);
    }
    vectors.set.add(kept, values);
    kept.vectors = vectors;
  }

  #remove(kept: KeptEntry): void {
    const { shelf, vectors, entry } = kept;
    shelf.entries.delete(entry.key);
    shelf.order.remove(kept);
    this.#entryCount -= 1;
    this.#count(shelf, -kept.byteCount);
    if (vectors !== null && entry.scope !== null) {
      vectors.set.remove(kept);
      if (vectors.set.count === 0) {
        shelf.dropVectors(entry.scope, vectors);
        this.#count(shelf, -VECTOR_SET_BYTES);
      }
    }
    if (shelf.entries.size === 0) this.#tenants.delete(shelf.tenantId);
  }

  /** @param bytes that it has more, as many entries as it has now */
  #count(shelf: TenantShelf, bytes: number): void {
    shelf.byteCount += bytes;
    this.#byteCount += bytes;
    this.#byEntries.set(shelf, shelf.entries.size);
    this.#byBytes.set(shelf, shelf.byteCount);
  }
}

/** In strings of one piece: an answer put together from a stream would else keep all its pieces alive. */
function frozenCopy(entry: CacheEntry, tenantId: string): CacheEntry {
  const copy = JSON.parse(JSON.stringify({ ...entry, vector: null })) as CacheEntry;
  copy.tenant_id = tenantId;
  freeze(copy);
  return copy;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}
