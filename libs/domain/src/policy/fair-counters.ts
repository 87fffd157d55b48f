/**
 * Counters by their key, of all tenants under one bound. What no window counts any more leaves while new ones come; at the
 * bound the tenant that has most loses the soonest to expire of a few: its minutes go before its budgets, and nobody else's.
 */
import { LargestFirst, Round } from '#kernel';

/** Counters looked at for each new one: dead ones leave faster than new ones come. */
const SWEEP_COUNT = 4;

interface Expiring {
  expiresMs: number;
}

interface TenantKeys {
  keys: Set<string>;
  /** Of the keys, a few steps for each that must go. */
  round: Round<string>;
}

export class FairCounters<Counter extends Expiring> {
  readonly #countMax: number;
  readonly #counters = new Map<string, Counter>();
  readonly #byTenant = new Map<string, TenantKeys>();
  /** Tenants by how many they have. */
  readonly #bySize = new LargestFirst<TenantKeys>();
  /** Goes round the counters, a few steps for each new one: never left behind, and so no `Round` that may begin anew. */
  #hand: Iterator<[string, Counter]> = this.#counters.entries();
  #evictedCount = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#counters.size;
  }

  /** Live counters dropped because there was no room. */
  get evictedCount(): number {
    return this.#evictedCount;
  }

  get(key: string): Counter | undefined {
    return this.#counters.get(key);
  }

  /** @param key of none that is there */
  add(key: string, counter: Counter, nowMs: number): void {
    this.#sweep(nowMs);
    if (this.#counters.size >= this.#countMax) this.#makeRoom(this.#byTenant.get(tenantOf(key)));
    this.#counters.set(key, counter);
    const tenantId = tenantOf(key);
    const own = this.#byTenant.get(tenantId) ?? open();
    own.keys.add(key);
    this.#byTenant.set(tenantId, own);
    this.#bySize.set(own, own.keys.size);
  }

  #sweep(nowMs: number): void {
    for (let step = 0; step < SWEEP_COUNT; step += 1) {
      let next = this.#hand.next();
      if (next.done) {
        this.#hand = this.#counters.entries();
        next = this.#hand.next();
        if (next.done) return;
      }
      const [key, { expiresMs }] = next.value;
      if (expiresMs <= nowMs) this.#delete(key);
    }
  }

  /** @param own of the tenant that needs it, who gives way among equals; undefined: it has none */
  #makeRoom(own: TenantKeys | undefined): void {
    const largest = this.#bySize.largest();
    if (largest === undefined) return;
    const most = own?.keys.size === largest.keys.size ? own : largest;
    let soonest: string | undefined;
    let soonestMs = Number.POSITIVE_INFINITY;
    for (let step = 0; step < SWEEP_COUNT; step += 1) {
      const key = most.round.next();
      if (key === undefined) break;
      const { expiresMs } = this.#counters.get(key) as Counter;
      if (expiresMs >= soonestMs) continue;
      soonest = key;
      soonestMs = expiresMs;
    }
    if (soonest === undefined) return;
    this.#delete(soonest);
    this.#evictedCount += 1;
  }

  #delete(key: string): void {
    this.#counters.delete(key);
    const tenantId = tenantOf(key);
    const own = this.#byTenant.get(tenantId);
    if (own === undefined) return;
    own.keys.delete(key);
    this.#bySize.set(own, own.keys.size);
    if (own.keys.size === 0) this.#byTenant.delete(tenantId);
  }
}

function open(): TenantKeys {
  const keys = new Set<string>();
  return { keys, round: new Round(() => keys.values()) };
}

/** @see LimitWindow.key */
function tenantOf(key: string): string {
  const end = key.indexOf('\0');
  return end === -1 ? '' : key.slice(0, end);
}
