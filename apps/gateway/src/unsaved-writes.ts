/**
 * What the store refused, such as on a full disk: stops of agents, the evidence for those of the kill switch, revocations, logins,
 * semantic loops, what became of answers that vendors keep. They are written again until it takes them, for the next start knows what
 * is stored: it would let in again what nobody wrote down. Whoever adds bounds them: stops by their places, see `AgentPolicies`, as who
 * is not told apart any longer is stopped already; evidence by `IncidentDesk`; loops by `LoopDesk`; revocations and logins by the
 * credentials there are; answers by those that are known.
 */
import type { Timer } from '#kernel';
import { lastAttempts } from './last-attempts.js';

export const WRITE_AGAIN_MS = 5_000;

export class UnsavedWrites<Key extends string> {
  readonly #timer: Timer;
  readonly #writes = new Map<Key, () => Promise<void>>();
  #isArmed = false;

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  has(key: Key): boolean {
    return this.#writes.has(key);
  }

  get size(): number {
    return this.#writes.size;
  }

  /** @param write tried until `delete` tells that it, or what makes it needless, is written */
  add(key: Key, write: () => Promise<void>): void {
    this.#writes.set(key, write);
    this.#arm();
  }

  /**
   * The store holds what is in force.
   * @param write unless another has taken its place
   * @returns false where that is no news
   */
  delete(key: Key, write = this.#writes.get(key)): boolean {
    return this.#writes.get(key) === write && this.#writes.delete(key);
  }

  /** Those whose key begins so, now. Rejects as the first that is refused does. */
  async writeNow(prefix: string): Promise<void> {
    for (const [key, write] of this.#writes) if (key.startsWith(prefix)) await write();
  }

  /** Once nothing more is added: what is left is tried a few times more. Never rejects. */
  stop(): Promise<void> {
    return lastAttempts(this.#timer, async () => {
      await this.#writeAgain();
      return this.size === 0;
    });
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
    for (const [key, write] of this.#writes) {
      try {
        await write();
      } catch {
        // Unless it has become needless meanwhile.
        if (this.delete(key, write)) this.#writes.set(key, write);
        return;
      }
    }
  }
}
