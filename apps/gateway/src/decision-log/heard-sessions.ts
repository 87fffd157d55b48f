/**
 * The sessions whose control one socket hears. One that is paused says nothing, and waits to hear that it may go on: it leaves
 * only where all of them are.
 */
import type { SessionKey } from '#contracts';

interface Heard {
  /** Stops hearing of it. */
  detach: () => void;
  isPaused: boolean;
}

export class HeardSessions {
  /** Of either, least recently spoken for first. */
  readonly #paused = new Map<SessionKey, Heard>();
  readonly #others = new Map<SessionKey, Heard>();

  get size(): number {
    return this.#paused.size + this.#others.size;
  }

  /** It has just been spoken for. False: it is not heard of. */
  touch(key: SessionKey): boolean {
    const heard = this.#find(key);
    if (heard !== undefined) this.#shelve(key, heard);
    return heard !== undefined;
  }

  /** @param attach given what to call with each change of its state, which may be at once; returns how to detach */
  add(key: SessionKey, attach: (noteState: (isPaused: boolean) => void) => () => void): void {
    const heard: Heard = { detach: () => {}, isPaused: false };
    this.#shelve(key, heard);
    heard.detach = attach((isPaused) => {
      if (isPaused === heard.isPaused || this.#find(key) !== heard) return;
      heard.isPaused = isPaused;
      this.#shelve(key, heard);
    });
  }

  /** The one that has been silent longest, of those that are not paused if there are any. O(1). */
  leaveOne(): void {
    const [leaving] = this.#others.size > 0 ? this.#others : this.#paused;
    if (leaving === undefined) return;
    const [key, { detach }] = leaving;
    this.#others.delete(key);
    this.#paused.delete(key);
    detach();
  }

  clear(): void {
    for (const shelf of [this.#paused, this.#others]) {
      for (const { detach } of shelf.values()) detach();
      shelf.clear();
    }
  }

  #find(key: SessionKey): Heard | undefined {
    return this.#paused.get(key) ?? this.#others.get(key);
  }

  #shelve(key: SessionKey, heard: Heard): void {
    this.#paused.delete(key);
    this.#others.delete(key);
    (heard.isPaused ? this.#paused : this.#others).set(key, heard);
  }
}
