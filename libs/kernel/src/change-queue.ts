/**
 * Changes of one thing one after another, so that two at once never write over what the other has not seen; of different
 * things side by side.
 */
export class ChangeQueue<K> {
  /** The last change of each thing that has any: bounded by work in progress. */
  readonly #last = new Map<K, Promise<unknown>>();

  /** Runs once every earlier change under this key has settled, at once if there is none; settles as `change` does. */
  run<T>(key: K, change: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key);
    const turn = previous === undefined ? change() : previous.then(change, change);
    this.#last.set(key, turn);
    const forget = () => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(forget, forget);
    return turn;
  }

  /** False as soon as the last change has settled. */
  isBusy(key: K): boolean {
    return this.#last.has(key);
  }

  /** Resolves when nothing runs and nothing waits. Never rejects. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled([...this.#last.values()]);
  }
}
