/**
 * Changes of one thing one after another, so that two at once never write over what the other has not seen; of different
 * things side by side. Keeps nothing of a thing that nobody changes.
 */
export class ChangeQueue<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  /** Runs once every earlier change under this key has settled, at once if there is none; settles as `change` does. */
  run<T>(key: K, change: () => Promise<T>): Promise<T> {
    const turn = this.#last.get(key)?.then(change) ?? change();
    const settled: Promise<unknown> = turn
      .catch(() => {})
      .then(() => {
        if (this.#last.get(key) === settled) this.#last.delete(key);
      });
    this.#last.set(key, settled);
    return turn;
  }
}
