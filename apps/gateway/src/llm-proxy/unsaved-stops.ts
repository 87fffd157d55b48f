/**
 * Stops by the kill switch that the store refused, such as on a full disk: written again until it takes them, for an agent
 * whose stop nobody wrote down would run again after the next start. Bounded by the places for stops, see `AgentPolicies`:
 * who is not told apart any longer is stopped already.
 */
import type { AgentScope } from '#contracts';
import type { Timer } from '../hitl/timer.js';

const WRITE_AGAIN_MS = 5_000;

export class UnsavedStops {
  readonly #timer: Timer;
  readonly #writes = new Map<AgentScope, () => Promise<void>>();
  #isArmed = false;

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  has(scope: AgentScope): boolean {
    return this.#writes.has(scope);
  }

  /** @param write tried until it resolves; whatever is written of the agent meanwhile is told by `delete` */
  add(scope: AgentScope, write: () => Promise<void>): void {
    this.#writes.set(scope, write);
    this.#arm();
  }

  /** The store holds what is in force. */
  delete(scope: AgentScope): void {
    this.#writes.delete(scope);
  }

  #arm(): void {
    if (this.#isArmed || this.#writes.size === 0) return;
    this.#isArmed = true;
    this.#timer.after(WRITE_AGAIN_MS, () => {
      void this.#writeAgain().finally(() => {
        this.#isArmed = false;
        this.#arm();
      });
    });
  }

  /** Up to the first that is refused: the others would be, too. It is the last of the next round. */
  async #writeAgain(): Promise<void> {
    for (const [scope, write] of this.#writes) {
      try {
        await write();
      } catch {
        this.#writes.delete(scope);
        this.#writes.set(scope, write);
        return;
      }
    }
  }
}
