/**
 * What is known of a tenant's entries without reading them: for listing, counting, invalidating and for letting the
 * least recently used go. Also takes away what is not wanted any more, values first: a name without its value does no
 * harm, a value without its name could not be invalidated.
 */
import {
  type CacheBackendStats,
  type CacheEntryView,
  type CacheEpoch,
  ObservatoryError,
  type Page,
  type PageQuery,
} from '#contracts';
import { compileEntryPattern, encodeEntryCursor, readEntryQuery, toEntryView } from '#domain/llm-cache';
import type { CacheLink } from './cache-link.js';
import { CacheNames } from './cache-names.js';
import { type EntryMeta, NO_EPOCH, readMeta, writeMeta } from './cache-values.js';

/** Writing is nobody's hot path. At least so long: whoever waits longer to be answered writes as patiently. */
const WRITE_WAIT_MS_MIN = 250;
/** For an operator's request, per batch; as above. */
const ADMIN_WAIT_MS_MIN = 1_000;
const BATCH_COUNT = 500;
const PORTION_COUNT = 100;

type Value = string | number | Buffer;

export interface IndexBounds {
  entriesMax: number;
  bytesMax: number;
  /** An index lives on for so long after its last change. */
  lifetimeMs: number;
  /** Most a look-up waits. */
  waitMs: number;
}

export class CacheIndex {
  readonly #link: CacheLink;
  readonly #names: CacheNames;
  readonly #bounds: IndexBounds;
  /** Most a write waits. */
  readonly writeWaitMs: number;
  readonly #adminWaitMs: number;
  #removedCount = 0;

  constructor(link: CacheLink, names: CacheNames, bounds: IndexBounds) {
    this.#link = link;
    this.#names = names;
    this.#bounds = bounds;
    this.writeWaitMs = Math.max(WRITE_WAIT_MS_MIN, bounds.waitMs);
    this.#adminWaitMs = Math.max(ADMIN_WAIT_MS_MIN, bounds.waitMs);
  }

  /** Values that were not ours, damaged or left behind. */
  get removedCount(): number {
    return this.#removedCount;
  }

  /**
   * Those that have to leave for it are gone soon after.
   * @param epoch undefined: whichever it is
   * @returns false, and nothing is registered: that epoch is over
   * @throws RedisFailure
   */
  async register(
    tenantId: string,
    key: string,
    ttlMs: number,
    meta: EntryMeta,
    epoch: CacheEpoch | undefined,
  ): Promise<boolean> {
    const { entriesMax, bytesMax, lifetimeMs } = this.#bounds;
    const written = writeMeta(meta, epoch ?? NO_EPOCH);
    const about = [key, ttlMs, written, meta.byte_count, lifetimeMs, entriesMax, bytesMax, epoch ?? ''];
    const reply = await this.#script('Register', this.writeWaitMs, tenantId, ...about);
    if (reply === null) return false;
    const parts = textsOf(reply);
    const evicted = new Map<string, EntryMeta | null>();
    for (let at = 0; at + 1 < parts.length; at += 2)
      evicted.set(parts[at] as string, readMeta(parts[at + 1] as string));
    this.#removeValues(tenantId, evicted).catch(() => {});
    return true;
  }

  /** Null when Redis cannot be asked in time. */
  async epoch(tenantId: string, waitMs: number): Promise<CacheEpoch | null> {
    const reply = await this.#script('Epoch', waitMs, tenantId).catch(() => null);
    return reply === null ? null : String(reply);
  }

  /** Of each key in which epoch it was registered, "" where it is not, `unknown` where Redis did not say in time. Never rejects. */
  async known(tenantId: string, keys: readonly string[], waitMs: number): Promise<string[]> {
    const reply = await this.#script('Known', waitMs, tenantId, ...keys).catch(() => null);
    return reply === null ? keys.map(() => 'unknown') : textsOf(reply);
  }

  /** Counts a hit. Never rejects. */
  async touch(tenantId: string, key: string): Promise<void> {
    // One that fails is a hit that is not counted.
    await this.#script('Touch', this.writeWaitMs, tenantId, key).catch(() => {});
  }

  /** An entry that the index does not know. */
  removeUnknown(tenantId: string, key: string): void {
    this.#removedCount += 1;
    this.#unlink(this.#names.entry(tenantId, key)).catch(() => {});
  }

  /** An entry whose value is not what it should be. */
  removeDamaged(tenantId: string, key: string): void {
    this.#removedCount += 1;
    // Both at once: what is stored under it next must not lose its name to this.
    this.#unlink(this.#names.entry(tenantId, key)).catch(() => {});
    this.#script('Forget', this.writeWaitMs, tenantId, key).catch(() => {});
  }

  /** A vector whose entry is gone or another one, or that is none. */
  removeVector(scopeTag: string, key: string): void {
    this.#removedCount += 1;
    this.#dropVector(scopeTag, key).catch(() => {});
  }

  /** Somebody else's value of another type under names of ours, if that is why it failed. */
  removeForeign(error: unknown, names: readonly string[]): void {
    if ((error as { code?: string }).code !== 'WRONGTYPE') return;
    this.#removedCount += names.length;
    for (const name of names) this.#unlink(name).catch(() => {});
  }

  /** @throws ObservatoryError cache_unavailable, where Redis failed before all was done */
  async invalidate(tenantId: string, pattern: string | null, preview: boolean): Promise<number> {
    const matches = compileEntryPattern(pattern);
    const seen = new Set<string>();
    let removed = 0;
    let cursor = '0';
    try {
      // First: what is registered in the former epoch is found below, and what comes later is refused.
      if (!preview) await this.#script('EndEpoch', this.#adminWaitMs, tenantId);
      do {
        const [next, ...pairs] = textsOf(
          await this.#script('Browse', this.#adminWaitMs, tenantId, cursor, BATCH_COUNT),
        );
        const matching = new Map<string, EntryMeta | null>();
        for (let at = 0; at + 1 < pairs.length; at += 2) {
          const [key, meta] = [pairs[at] as string, readMeta(pairs[at + 1] as string)];
          // Of what cannot be read, as where a newer gateway wrote it, nobody knows that it is not meant.
          const isMeant = meta === null || matches({ key, ...meta });
          // A page may repeat what another held.
          if (seen.has(key) || !isMeant) continue;
          seen.add(key);
          matching.set(key, meta);
        }
        if (!preview && matching.size > 0) removed += await this.#remove(tenantId, matching);
        cursor = next ?? '0';
      } while (cursor !== '0');
    } catch {
      throw preview ? new ObservatoryError('cache_unavailable') : unfinished();
    }
    return preview ? seen.size : removed;
  }

  /** @throws ObservatoryError cache_unavailable: it may still be there */
  async evict(tenantId: string, key: string): Promise<boolean> {
    const [, metaName] = this.#names.tenant(tenantId);
    try {
      await this.#script('EndEpoch', this.#adminWaitMs, tenantId);
      const meta = await this.#link.ask(metaName, this.#adminWaitMs, () =>
        this.#link.client.hget(metaName, key),
      );
      return (await this.#remove(tenantId, new Map([[key, readMeta(meta ?? '')]]))) > 0;
    } catch {
      throw unfinished();
    }
  }

  /** Zeros when Redis cannot be asked. */
  async stats(tenantId: string): Promise<CacheBackendStats> {
    const reply = await this.#script('Stats', this.#adminWaitMs, tenantId).catch(() => []);
    const [entries = 0, bytes = 0] = textsOf(reply).map(Number);
    return { total_entries: entries, total_bytes: bytes };
  }

  /** Empty when Redis cannot be asked. @throws ObservatoryError invalid_request */
  async list(tenantId: string, query: PageQuery): Promise<Page<CacheEntryView>> {
    const { limit, behind } = readEntryQuery(query);
    const from = [behind?.hit_count ?? '', behind?.key ?? ''];
    const reply = await this.#script('List', this.#adminWaitMs, tenantId, limit + 1, ...from).catch(() => []);
    const texts = textsOf(reply);
    const rows = Array.from({ length: Math.floor(texts.length / 4) }, (_, row) => {
      const [key = '', meta = '', hits = '0', usedMs = '0'] = texts.slice(4 * row, 4 * row + 4);
      return { key, meta: readMeta(meta), hit_count: Number(hits), used_at_ms: Number(usedMs) };
    });
    const items = rows.slice(0, limit).flatMap(({ key, meta, hit_count: hits, used_at_ms: usedMs }) => {
      if (meta === null) return [];
      const use = { hit_count: hits, last_hit_at_ms: hits > 0 ? usedMs : null };
      const kept = { byte_count: meta.byte_count, has_vector: meta.has_vector };
      return [toEntryView({ ...meta, key, answer: meta }, { ...use, ...kept })];
    });
    const last = rows[limit - 1];
    const hasMore = rows.length > limit && last !== undefined;
    return { items, next_cursor: hasMore ? encodeEntryCursor(last) : null };
  }

  /** @returns how many were known and alive @throws RedisFailure */
  async #remove(tenantId: string, entries: ReadonlyMap<string, EntryMeta | null>): Promise<number> {
    await this.#removeValues(tenantId, entries);
    return Number(await this.#script('Forget', this.#adminWaitMs, tenantId, ...entries.keys()));
  }

  /** @throws RedisFailure */
  async #removeValues(tenantId: string, entries: ReadonlyMap<string, EntryMeta | null>): Promise<void> {
    // It comes from a list that somebody else may have written to.
    const ours = [...entries].filter(([key]) => CacheNames.isKey(key));
    // In portions: what waits for a reply is bounded, and others ask as well.
    for (let from = 0; from < ours.length; from += PORTION_COUNT)
      await Promise.all(
        ours
          .slice(from, from + PORTION_COUNT)
          .flatMap(([key, meta]) => [
            this.#unlink(this.#names.entry(tenantId, key)),
            ...(meta?.has_vector && meta.scope_tag !== null ? [this.#dropVector(meta.scope_tag, key)] : []),
          ]),
      );
  }

  #dropVector(scopeTag: string, key: string): Promise<unknown> {
    const vector = this.#names.vectorsOf(scopeTag) + key;
    return this.#link.script('DropVector', this.#adminWaitMs, this.#names.scope(scopeTag), vector, '', key);
  }

  #unlink(name: string): Promise<unknown> {
    return this.#link.ask(name, this.#adminWaitMs, () => this.#link.client.unlink(name));
  }

  /** @throws RedisFailure */
  #script(
    command: 'Register' | 'Epoch' | 'EndEpoch' | 'Known' | 'Touch' | 'Forget' | 'Browse' | 'Stats' | 'List',
    timeoutMs: number,
    tenantId: string,
    ...values: Value[]
  ): Promise<unknown> {
    const names = this.#names.tenant(tenantId);
    return this.#link.script(command, timeoutMs, ...names, this.#link.now, ...values).catch((error) => {
      this.removeForeign(error, names);
      throw error;
    });
  }
}

/** Values may be gone whose names are not: who asks again finds them. */
const unfinished = (): ObservatoryError =>
  new ObservatoryError(
    'cache_unavailable',
    'The cache failed before all was removed: some of it may still be served. Ask again.',
  );

const textsOf = (reply: unknown): string[] => (Array.isArray(reply) ? reply.map(String) : []);
