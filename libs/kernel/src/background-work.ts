/** What goes on while nobody waits for it, until somebody asks whether it is over. */
export class BackgroundWork {
  readonly #underWay = new Set<Promise<unknown>>();

  get size(): number {
    return this.#underWay.size;
  }

  /** @returns settles as `work` does, which is under way no longer then */
  add<T>(work: Promise<T>): Promise<T> {
    const tracked: Promise<T> = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
    return tracked;
  }

  /** Resolves when what is under way now is over, whatever begins meanwhile; rejects as soon as any of it does. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
