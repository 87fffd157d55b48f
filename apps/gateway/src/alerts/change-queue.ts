/** Changes one after another, so that two operators at once never write over what the other has not seen. */
export class ChangeQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs once every earlier change has settled; settles as `change` does. */
  run<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change, change);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
