/** Something there is only so much of, which tenants take from and give back: when it is full, no one tenant filled it. */

/** Of the whole, for one tenant. */
const TENANT_SHARE = 0.5;

export class FairShare {
  readonly #max: number;
  readonly #onFull: () => void;
  readonly #takenByTenant = new Map<string, number>();
  #taken = 0;

  /** @param onFull somebody got nothing; to be counted */
  constructor({ max, onFull }: { max: number; onFull: () => void }) {
    this.#max = max;
    this.#onFull = onFull;
  }

  /** Taken by all together. */
  get taken(): number {
    return this.#taken;
  }

  /** Tenants that have something; nothing is kept of the others. */
  get tenantCount(): number {
    return this.#takenByTenant.size;
  }

  /** False: there is no room for so much now. Takes nothing. */
  fits(tenantId: string, amount: number): boolean {
    const ofTenant = (this.#takenByTenant.get(tenantId) ?? 0) + amount;
    if (this.#taken + amount <= this.#max && ofTenant <= this.#max * TENANT_SHARE) return true;
    this.#onFull();
    return false;
  }

  /** False: nothing was taken. */
  take(tenantId: string, amount: number): boolean {
    if (!this.fits(tenantId, amount)) return false;
    // Of nothing nothing is given back.
    if (amount === 0) return true;
    this.#taken += amount;
    this.#takenByTenant.set(tenantId, (this.#takenByTenant.get(tenantId) ?? 0) + amount);
    return true;
  }

  /** @param amount that was taken */
  giveBack(tenantId: string, amount: number): void {
    this.#taken -= amount;
    const left = (this.#takenByTenant.get(tenantId) ?? 0) - amount;
    if (left > 0) this.#takenByTenant.set(tenantId, left);
    else this.#takenByTenant.delete(tenantId);
  }
}
