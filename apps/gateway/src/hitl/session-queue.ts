/** One thing at a time per session, in the order of arrival; sessions do not wait for each other. */
import type { SessionKey } from '#contracts';

export class SessionQueue {
  /** The last task of each busy session. Holds no entry for an idle one, so it is bounded by work in progress. */
  readonly #tails = new Map<SessionKey, Promise<unknown>>();

  /** Runs `task` after all earlier ones of this session, whether these failed or not. Settles as `task` does. */
  run<T>(key: SessionKey, task: () => Promise<T>): Promise<T> {
    const previous = this.#tails.get(key);
    const result = previous === undefined ? task() : previous.then(task, task);
    this.#tails.set(key, result);
    const forget = () => {
      if (this.#tails.get(key) === result) this.#tails.delete(key);
    };
    result.then(forget, forget);
    return result;
  }

  isBusy(key: SessionKey): boolean {
    return this.#tails.has(key);
  }

  /** Resolves when nothing runs and nothing waits. Never rejects. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.allSettled([...this.#tails.values()]);
  }
}
