/**
 * Whether what a call brings may still be kept when its answer has ended: not after its tenant had answers thrown out,
 * which may have been because of what the call was told, and not in place of what a younger call has left.
 * Knows the calls of this gateway only, whatever backend it shares with others.
 */

/** Tenants whose generation is told apart; past it all of them begin a new one. */
const TENANTS_MAX = 10_000;

/** A call that was looked up and not found, until it ends. */
export interface LookUp {
  readonly tenantId: string;
  readonly generation: number;
  /** In the order of the look-ups. */
  readonly serial: number;
  readonly underWay: UnderWay;
}

/** Such calls for one key. */
interface UnderWay {
  readonly name: string;
  callCount: number;
  /** Of the youngest call that has left an answer. */
  keptSerial: number;
}

export class CacheFreshness {
  /** Of tenants that have thrown answers out. */
  readonly #generations = new Map<string, number>();
  /** By tenant and key; no more than there are calls under way. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #tenantsMax: number;
  #serial = 0;
  #lastGeneration = 0;
  /** Of tenants that are not in the map. */
  #commonGeneration = 0;

  constructor(tenantsMax = TENANTS_MAX) {
    this.#tenantsMax = tenantsMax;
  }

  /** Keys of which calls are under way. */
  get count(): number {
    return this.#underWay.size;
  }

  generation(tenantId: string): number {
    return this.#generations.get(tenantId) ?? this.#commonGeneration;
  }

  /** Answers of this tenant were thrown out, or are about to be: nothing that is under way is kept any more. */
  throwOut(tenantId: string): void {
    this.#lastGeneration += 1;
    if (this.#generations.size >= this.#tenantsMax) {
      this.#generations.clear();
      this.#commonGeneration = this.#lastGeneration;
    }
    this.#generations.set(tenantId, this.#lastGeneration);
  }

  /** To be ended, whatever becomes of the call. */
  begin(tenantId: string, key: string): LookUp {
    const name = `${tenantId}\0${key}`;
    let underWay = this.#underWay.get(name);
    if (underWay === undefined) {
      underWay = { name, callCount: 0, keptSerial: 0 };
      this.#underWay.set(name, underWay);
    }
    underWay.callCount += 1;
    this.#serial += 1;
    return { tenantId, generation: this.generation(tenantId), serial: this.#serial, underWay };
  }

  /** Asked in the turn in which the answer is handed over: from then on no older call may keep its own. */
  claim({ tenantId, generation, serial, underWay }: LookUp): boolean {
    if (generation !== this.generation(tenantId) || serial < underWay.keptSerial) return false;
    underWay.keptSerial = serial;
    return true;
  }

  end({ underWay }: LookUp): void {
    underWay.callCount -= 1;
    if (underWay.callCount === 0) this.#underWay.delete(underWay.name);
  }
}
