/**
 * What is remembered for tenants under one bound, in number and, if asked, in weight. When it is reached the tenant that has
 * most forgets what it has not touched for longest: however much others remember, a tenant with little keeps it.
 */
import { LargestFirst } from './largest-first.js';
import { type EvictionReason, TtlLru, type TtlLruOptions } from './ttl-lru.js';

type Bound = Exclude<EvictionReason, 'idle'>;

export class FairLru<K, V> {
  readonly #options: TtlLruOptions<K, V>;
  /** Tenants with an entry, and some that had one. */
  readonly #byTenant = new Map<string, TtlLru<K, V>>();
  /** How many entries left for each reason, since the start. */
  readonly evicted = { capacity: 0, idle: 0, memory: 0 };
  readonly #onEvict = (key: K, value: V, reason: EvictionReason): void => {
    this.evicted[reason] += 1;
    this.#options.onEvict?.(key, value, reason);
  };
  readonly #bySize = new LargestFirst<string>();
  readonly #byWeight = new LargestFirst<string>();
  #size = 0;
  #weight = 0;

  /** @param options with bounds for all tenants together */
  constructor(options: TtlLruOptions<K, V>) {
    this.#options = options;
  }

  /** Entries of all tenants. */
  get size(): number {
    return this.#size;
  }

  /** Of all values held. */
  get weight(): number {
    return this.#weight;
  }

  /** The live value, marked as just used. O(1). */
  get(tenantId: string, key: K): V | undefined {
    const entries = this.#byTenant.get(tenantId);
    if (entries === undefined) return undefined;
    const { size, weight } = entries;
    const value = entries.get(key);
    // It had been idle too long.
    if (entries.size !== size) this.#account(tenantId, entries, size, weight);
    return value;
  }

  /** Reads without touching. O(1). */
  peek(tenantId: string, key: K): V | undefined {
    return this.#byTenant.get(tenantId)?.peek(key);
  }

  /** O(log tenants), with room and without. */
  set(tenantId: string, key: K, value: V): void {
    const entries = this.#byTenant.get(tenantId) ?? this.#open();
    this.#byTenant.set(tenantId, entries);
    this.#change(tenantId, entries, () => entries.set(key, value));
    this.#giveWay(tenantId, entries, key);
  }

  /** The value held for the key has become heavier by `change`, or lighter: `weight.of` says so already. It stays: it is in use. */
  reweigh(tenantId: string, key: K, value: V, change: number): void {
    const entries = this.#byTenant.get(tenantId);
    if (entries === undefined || change === 0) return;
    this.#change(tenantId, entries, () => entries.reweigh(value, change));
    this.#giveWay(tenantId, entries, key);
  }

  delete(tenantId: string, key: K): boolean {
    const entries = this.#byTenant.get(tenantId);
    return entries !== undefined && this.#change(tenantId, entries, () => entries.delete(key));
  }

  clear(): void {
    this.#byTenant.clear();
    this.#bySize.clear();
    this.#byWeight.clear();
    this.#size = 0;
    this.#weight = 0;
  }

  /** @returns how many there were */
  evictIdle(): number {
    let evicted = 0;
    for (const [tenantId, entries] of this.#byTenant)
      evicted += this.#change(tenantId, entries, () => entries.evictIdle());
    return evicted;
  }

  /** Of one tenant, or by tenant; least recently touched first. Does not touch. */
  *entries(tenantId?: string): IterableIterator<[K, V]> {
    if (tenantId === undefined) for (const entries of this.#byTenant.values()) yield* entries.entries();
    else yield* this.#byTenant.get(tenantId)?.entries() ?? [];
  }

  /** Without bounds of its own: what gives way is decided over all tenants. */
  #open(): TtlLru<K, V> {
    const { idleMs, clock, weight } = this.#options;
    const unbounded = Number.POSITIVE_INFINITY;
    return new TtlLru({
      countMax: unbounded,
      idleMs,
      clock,
      ...(weight && { weight: { max: unbounded, of: weight.of } }),
      onEvict: this.#onEvict,
    });
  }

  #boundPast(): Bound | null {
    const { countMax, weight } = this.#options;
    if (this.#size > countMax) return 'capacity';
    return weight !== undefined && this.#weight > weight.max ? 'memory' : null;
  }

  /** @param inUse of this tenant; stays */
  #giveWay(tenantId: string, own: TtlLru<K, V>, inUse: K): void {
    for (let bound = this.#boundPast(); bound !== null; bound = this.#boundPast()) {
      const theirId = this.#largest(tenantId, own, bound);
      const theirs = theirId === undefined ? undefined : this.#byTenant.get(theirId);
      if (theirId === undefined || theirs === undefined) return;
      if (this.#change(theirId, theirs, () => theirs.evictIdle()) > 0) continue;
      const [oldest, next] = theirs.entries();
      const leaving = theirs === own && oldest?.[0] === inUse ? next : oldest;
      if (leaving === undefined) return;
      const [key, value] = leaving;
      this.#change(theirId, theirs, () => theirs.delete(key));
      this.#onEvict(key, value, bound);
    }
  }

  /** Undefined: nobody has one to spare. Where the own tenant has only one, that is in use. */
  #largest(tenantId: string, own: TtlLru<K, V>, bound: Bound): string | undefined {
    const order = bound === 'capacity' ? this.#bySize : this.#byWeight;
    const other = order.largest(tenantId);
    if (own.size <= 1) return other;
    return other !== undefined && order.amountOf(other) > order.amountOf(tenantId) ? other : tenantId;
  }

  /** Keeps the sums, whatever of a tenant's went idle meanwhile. */
  #change<Result>(tenantId: string, entries: TtlLru<K, V>, change: () => Result): Result {
    const { size, weight } = entries;
    const result = change();
    this.#account(tenantId, entries, size, weight);
    return result;
  }

  /** @param size before the change @param weight likewise */
  #account(tenantId: string, entries: TtlLru<K, V>, size: number, weight: number): void {
    this.#size += entries.size - size;
    this.#weight += entries.weight - weight;
    if (entries.size !== size) this.#bySize.set(tenantId, entries.size);
    if (entries.weight !== weight) this.#byWeight.set(tenantId, entries.weight);
    if (entries.size === 0) this.#byTenant.delete(tenantId);
  }
}
