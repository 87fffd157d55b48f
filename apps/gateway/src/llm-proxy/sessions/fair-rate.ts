/**
 * So many a second for all tenants together. One may take no more than it leaves: alone it comes to half, two busy ones
 * to a third each, and who asks last still finds something. Nothing is kept from one second to the next.
 */
import type { SteadyClock } from '#kernel';

export class FairRate {
  readonly #clock: SteadyClock;
  readonly #perSecondMax: number;
  /** Of those that took something in `#second`: as many as `#perSecondMax` at most. */
  readonly #takenByTenant = new Map<string, number>();
  #taken = 0;
  #second = Number.NaN;

  constructor({ clock, perSecondMax }: { clock: SteadyClock; perSecondMax: number }) {
    this.#clock = clock;
    this.#perSecondMax = perSecondMax;
  }

  /** False: this tenant has had its part of this second. */
  take(tenantId: string): boolean {
    this.#turn();
    const ofTenant = this.#takenByTenant.get(tenantId) ?? 0;
    if (ofTenant >= this.#perSecondMax - this.#taken) return false;
    this.#takenByTenant.set(tenantId, ofTenant + 1);
    this.#taken += 1;
    return true;
  }

  #turn(): void {
    const second = Math.floor(this.#clock.steadyMs() / 1_000);
    if (second === this.#second) return;
    this.#second = second;
    this.#taken = 0;
    this.#takenByTenant.clear();
  }
}
