/**
 * Calls that upstreams are answering now, by origin: names of upstreams are the tenants' own, but the sockets to an origin
 * are everybody's.
 */
import { atTurnEnd } from '#kernel';
import { FairShare } from '../../fair-share.js';

export class RunningCalls {
  readonly #options: ConstructorParameters<typeof FairShare>[0];
  /** Origins with a call only. */
  readonly #byOrigin = new Map<string, FairShare>();
  /** To all origins together. */
  #count = 0;

  /** @param options.max to one origin; each tenant has its share of it */
  constructor(options: { max: number; onFull: () => void }) {
    this.#options = options;
  }

  /** False: this call must not be sent now. */
  enter(tenantId: string, origin: string): boolean {
    let calls = this.#byOrigin.get(origin);
    if (calls === undefined) {
      calls = new FairShare(this.#options);
      this.#byOrigin.set(origin, calls);
    }
    const isIn = calls.take(tenantId, 1);
    if (isIn) this.#count += 1;
    return isIn;
  }

  /** Once for each `enter` that was true. */
  leave(tenantId: string, origin: string): void {
    const calls = this.#byOrigin.get(origin);
    calls?.giveBack(tenantId, 1);
    if (calls?.taken === 0) this.#byOrigin.delete(origin);
    this.#count -= 1;
  }

  /** With what the others write in this turn; at once for a call that is alone, which would wait for nobody. */
  writeTogether(write: () => void): void {
    if (this.#count > 1) atTurnEnd(write);
    else write();
  }
}
