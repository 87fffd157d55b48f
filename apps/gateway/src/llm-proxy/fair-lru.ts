/**
 * What is remembered for tenants under one bound. When it is reached the tenant that has most forgets what it has not
 * touched for longest: however much others remember, a tenant with little keeps it.
 */
import { type Clock, TtlLru } from '#kernel';

export class FairLru<K, V> {
  readonly #options: { countMax: number; idleMs: number; clock: Clock };
  /** Tenants with an entry only. */
  readonly #byTenant = new Map<string, TtlLru<K, V>>();
  #size = 0;

  /** @param options of TtlLru, for all tenants together */
  constructor(options: { countMax: number; idleMs: number; clock: Clock }) {
    this.#options = options;
  }

  /** Entries of all tenants. */
  get size(): number {
    return this.#size;
  }

  /** The live value, marked as just used. */
  get(tenantId: string, key: K): V | undefined {
    const entries = this.#byTenant.get(tenantId);
    return entries && this.#change(tenantId, entries, () => entries.get(key));
  }

  set(tenantId: string, key: K, value: V): void {
    const { countMax } = this.#options;
    // One more than there may be, so that what gives way is decided below.
    const entries =
      this.#byTenant.get(tenantId) ?? new TtlLru<K, V>({ ...this.#options, countMax: countMax + 1 });
    this.#byTenant.set(tenantId, entries);
    this.#change(tenantId, entries, () => entries.set(key, value));
    if (this.#size > countMax) this.#giveWay(tenantId, entries);
  }

  #giveWay(tenantId: string, entries: TtlLru<K, V>): void {
    const [most, theirs] = this.#largest(tenantId, entries);
    const [oldest] = theirs.entries().next().value as [K, V];
    this.#change(most, theirs, () => theirs.evictIdle() > 0 || theirs.delete(oldest));
  }

  /** A tenant that has more than half is the one, without a look at the others: a flood is cheap. */
  #largest(tenantId: string, entries: TtlLru<K, V>): [string, TtlLru<K, V>] {
    let largest: [string, TtlLru<K, V>] = [tenantId, entries];
    if (entries.size * 2 > this.#size) return largest;
    for (const one of this.#byTenant) if (one[1].size > largest[1].size) largest = one;
    return largest;
  }

  /** Keeps the sum, whatever of a tenant's went idle meanwhile. */
  #change<Result>(tenantId: string, entries: TtlLru<K, V>, change: () => Result): Result {
    const sizeBefore = entries.size;
    const result = change();
    this.#size += entries.size - sizeBefore;
    if (entries.size === 0) this.#byTenant.delete(tenantId);
    return result;
  }
}
