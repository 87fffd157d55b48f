/**
 * One lane for each tenant and session: what enters is let through one after another, in the order of entering, so
 * that of two fast prompts of one session the second is compared with the first. Lanes do not wait for each other.
 */

interface Lane {
  tail: Promise<void>;
  count: number;
}

export interface Turn {
  /** Resolves when everybody who entered before has left. */
  readonly comes: Promise<void>;
  /** Lets the next one through; not before the turn has come. */
  leave(): void;
}

export class ScopeLanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #waitingMax: number;

  /** @param waitingMax most in one lane, so that one stuck session cannot take every place */
  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Null: the lane is full. */
  enter(key: string): Turn | null {
    const lane = this.#lanes.get(key) ?? { tail: Promise.resolve(), count: 0 };
    if (lane.count >= this.#waitingMax) return null;
    const comes = lane.tail;
    let open!: () => void;
    lane.tail = new Promise((resolve) => {
      open = resolve;
    });
    lane.count += 1;
    this.#lanes.set(key, lane);
    return {
      comes,
      leave: () => {
        lane.count -= 1;
        if (lane.count === 0) this.#lanes.delete(key);
        open();
      },
    };
  }
}
