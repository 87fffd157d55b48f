/**
 * Whether what a call brings may still be kept when its answer has ended: not in place of what a younger call has left. Knows
 * the calls of this gateway only. That nothing is kept after its tenant had answers thrown out, by whichever gateway, is the
 * backend's to see to: it is told the epoch of the look-up.
 */
import type { CacheEpoch } from '#contracts';

/** A call that was looked up and not found, until it ends. */
export interface LookUp {
  /** Null: not known yet, or not to be had. */
  epoch: CacheEpoch | null;
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
  /** `keptSerial` before the youngest. */
  formerSerial: number;
}

export class CacheFreshness {
  /** By tenant and key; no more than there are calls under way. */
  readonly #underWay = new Map<string, UnderWay>();
  #serial = 0;

  /** Keys of which calls are under way. */
  get count(): number {
    return this.#underWay.size;
  }

  /** To be ended, whatever becomes of the call. */
  begin(tenantId: string, key: string): LookUp {
    const name = `${tenantId}\0${key}`;
    let underWay = this.#underWay.get(name);
    if (underWay === undefined) {
      underWay = { name, callCount: 0, keptSerial: 0, formerSerial: 0 };
      this.#underWay.set(name, underWay);
    }
    underWay.callCount += 1;
    this.#serial += 1;
    return { epoch: null, serial: this.#serial, underWay };
  }

  /** Asked in the turn in which the answer is handed over: from then on no older call may keep its own. */
  claim({ serial, underWay }: LookUp): boolean {
    if (serial < underWay.keptSerial) return false;
    underWay.formerSerial = underWay.keptSerial;
    underWay.keptSerial = serial;
    return true;
  }

  /** It was not kept after all: an older call may keep its own in the place of one that is older still. */
  disclaim({ serial, underWay }: LookUp): void {
    if (serial === underWay.keptSerial) underWay.keptSerial = underWay.formerSerial;
  }

  end({ underWay }: LookUp): void {
    underWay.callCount -= 1;
    if (underWay.callCount === 0) this.#underWay.delete(underWay.name);
  }
}
