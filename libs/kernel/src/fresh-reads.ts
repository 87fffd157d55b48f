interface Reading {
  readerCount: number;
  changeCount: number;
}

/** Reads of what may change while they are under way: such a read is done again, so that nobody goes on from what is old. */
export class FreshReads<Key> {
  readonly #underWay = new Map<Key, Reading>();

  /**
   * Rejects as `read` does.
   *
   * @param read done again as long as `changed` is told of its key meanwhile
   * @param onFresh given what was read while that still holds: whoever awaits the answer has it some microtasks later
   */
  async read<Value>(
    key: Key,
    read: () => Promise<Value>,
    onFresh: (value: Value) => void = () => {},
  ): Promise<Value> {
    const reading = this.#underWay.get(key) ?? { readerCount: 0, changeCount: 0 };
    this.#underWay.set(key, reading);
    reading.readerCount += 1;
    try {
      for (;;) {
        const { changeCount } = reading;
        const value = await read();
        if (reading.changeCount !== changeCount) continue;
        onFresh(value);
        return value;
      }
    } finally {
      reading.readerCount -= 1;
      if (reading.readerCount === 0) this.#underWay.delete(key);
    }
  }

  /** O(1). */
  changed(key: Key): void {
    const reading = this.#underWay.get(key);
    if (reading !== undefined) reading.changeCount += 1;
  }
}
