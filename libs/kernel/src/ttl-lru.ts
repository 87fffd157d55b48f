/**
 * Map bounded by entry count, by idle time and, if asked, by weight; the least recently touched entry leaves first. Whoever sets
 * the wall clock makes nothing idle.
 * Order is kept by links inside the entries, not by re-inserting into the Map, so a touch costs
 * two pointer writes at any size.
 */

import type { SteadyClock } from './clock.js';

interface Entry<K, V> {
  readonly key: K;
  value: V;
  touchedMs: number;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
}

export type EvictionReason = 'capacity' | 'idle' | 'memory';

export interface TtlLruOptions<K, V> {
  /** Most entries held at once; reaching it evicts the least recently touched. */
  countMax: number;
  /** An entry untouched for this long is gone. `Infinity` turns idling off. */
  idleMs: number;
  clock: SteadyClock;
  /** For values that grow: their number alone is no bound on memory. `of` says what one weighs now, in units of `max`. */
  weight?: { max: number; of: (value: V) => number };
  /** Called for evictions by bound only, never for `delete` or `clear`. */
  onEvict?: (key: K, value: V, reason: EvictionReason) => void;
}

export class TtlLru<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>();
  readonly #options: TtlLruOptions<K, V>;
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;
  #weight = 0;

  constructor(options: TtlLruOptions<K, V>) {
    if (!(options.countMax >= 1))
      throw new RangeError(`countMax must be at least 1, got ${options.countMax}`);
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Of all values held. */
  get weight(): number {
    return this.#weight;
  }

  /** The live value, marked as just used; `undefined` if absent or idle too long. O(1). */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const steadyMs = this.#nowMs();
    if (steadyMs - entry.touchedMs > this.#options.idleMs) {
      this.#evict(entry, 'idle');
      return undefined;
    }
    entry.touchedMs = steadyMs;
    this.#moveToNewest(entry);
    return entry.value;
  }

  /** Reads without touching; idle entries read as absent. O(1). */
  peek(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    return this.#nowMs() - entry.touchedMs > this.#options.idleMs ? undefined : entry.value;
  }

  /** Inserts or replaces, marked as just used; may evict. O(1) amortised. */
  set(key: K, value: V): void {
    const steadyMs = this.#nowMs();
    const existing = this.#entries.get(key);
    if (existing !== undefined) {
      const change = this.#weightOf(value) - this.#weightOf(existing.value);
      existing.value = value;
      existing.touchedMs = steadyMs;
      this.#moveToNewest(existing);
      this.reweigh(value, change);
      return;
    }
    this.evictIdle(2);
    if (this.#entries.size >= this.#options.countMax && this.#oldest) this.#evict(this.#oldest, 'capacity');
    const entry: Entry<K, V> = { key, value, touchedMs: steadyMs, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#linkNewest(entry);
    this.reweigh(value, this.#weightOf(value));
  }

  /**
   * A value that is held has become heavier by `change`, or lighter: `weight.of` says so already. Past the bound the
   * least recently touched leave, but not this one, which is in use. O(1) amortised.
   */
  reweigh(value: V, change: number): void {
    this.#weight += change;
    const { weight } = this.#options;
    if (weight === undefined) return;
    while (this.#weight > weight.max) {
      const oldest = this.#oldest?.value === value ? this.#oldest.newer : this.#oldest;
      if (oldest === undefined) return;
      this.#evict(oldest, 'memory');
    }
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#take(entry);
    return true;
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
    this.#weight = 0;
  }

  /** Evicts entries idle too long, oldest first. @param countMax most to evict in this call */
  evictIdle(countMax = Number.POSITIVE_INFINITY): number {
    const steadyMs = this.#nowMs();
    let evicted = 0;
    while (evicted < countMax && this.#oldest && steadyMs - this.#oldest.touchedMs > this.#options.idleMs) {
      this.#evict(this.#oldest, 'idle');
      evicted += 1;
    }
    return evicted;
  }

  /** Least recently touched first; does not touch. */
  *entries(): IterableIterator<[K, V]> {
    for (let entry = this.#oldest; entry; entry = entry.newer) yield [entry.key, entry.value];
  }

  /** Where nothing grows idle there is no time to ask for. */
  #nowMs(): number {
    const { idleMs, clock } = this.#options;
    return idleMs === Number.POSITIVE_INFINITY ? 0 : clock.steadyMs();
  }

  #weightOf(value: V): number {
    return this.#options.weight?.of(value) ?? 0;
  }

  #take(entry: Entry<K, V>): void {
    this.#unlink(entry);
    this.#entries.delete(entry.key);
    this.#weight -= this.#weightOf(entry.value);
  }

  #evict(entry: Entry<K, V>, reason: EvictionReason): void {
    this.#take(entry);
    this.#options.onEvict?.(entry.key, entry.value, reason);
  }

  #moveToNewest(entry: Entry<K, V>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#linkNewest(entry);
  }

  #linkNewest(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest) this.#newest.newer = entry;
    this.#newest = entry;
    this.#oldest ??= entry;
  }

  #unlink(entry: Entry<K, V>): void {
    if (entry.older) entry.older.newer = entry.newer;
    else this.#oldest = entry.newer;
    if (entry.newer) entry.newer.older = entry.older;
    else this.#newest = entry.older;
    entry.older = undefined;
    entry.newer = undefined;
  }
}
