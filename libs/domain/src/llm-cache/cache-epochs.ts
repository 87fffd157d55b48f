/** The epochs of tenants' answers, for a cache that stands alone. */
import type { CacheEpoch } from '#contracts';

/** Tenants whose epoch is told apart; past it all of them begin a new one. */
const TENANTS_MAX = 10_000;

export class CacheEpochs {
  /** Of tenants that have thrown answers out. */
  readonly #epochs = new Map<string, CacheEpoch>();
  readonly #tenantsMax: number;
  #endedCount = 0;
  /** Of tenants that are not in the map. */
  #common: CacheEpoch = '0';

  constructor(tenantsMax = TENANTS_MAX) {
    this.#tenantsMax = tenantsMax;
  }

  of(tenantId: string): CacheEpoch {
    return this.#epochs.get(tenantId) ?? this.#common;
  }

  /** Answers of this tenant are thrown out: nothing that is under way is kept any more. */
  end(tenantId: string): void {
    this.#endedCount += 1;
    const next = String(this.#endedCount);
    if (this.#epochs.size >= this.#tenantsMax) {
      this.#epochs.clear();
      this.#common = next;
    }
    this.#epochs.set(tenantId, next);
  }
}
