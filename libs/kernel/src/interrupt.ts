/**
 * Tells whoever waits to wait no longer; for one listener, where an AbortController serves any number and takes half a
 * kilobyte. Each call that hangs has one.
 */
export class Interrupt {
  #isRaised = false;
  #listener: (() => void) | null = null;

  get isRaised(): boolean {
    return this.#isRaised;
  }

  /** Raising it twice tells nobody twice. */
  raise(): void {
    if (this.#isRaised) return;
    this.#isRaised = true;
    this.#listener?.();
  }

  /** In place of the listener before, null for none. One that comes too late is not told: look at `isRaised` first. */
  listen(listener: (() => void) | null): void {
    this.#listener = listener;
  }
}
