/** Keeps what happens again and again from filling the log: of each cause a line a minute, which says how many it stands for. */
import type { SteadyClock } from './clock.js';
import { MINUTE_MS } from './duration.js';

export class LinePace<Cause extends string> {
  readonly #clock: SteadyClock;
  /** Causes are few and named by us: the map needs no bound. */
  readonly #latest = new Map<Cause, { atMs: number; untold: number }>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** @returns null while its last line is younger than a minute; else how many of this cause had none since that line */
  untoldAt(cause: Cause): number | null {
    const nowMs = this.#clock.steadyMs();
    const last = this.#latest.get(cause);
    if (last !== undefined && nowMs - last.atMs < MINUTE_MS) {
      last.untold += 1;
      return null;
    }
    this.#latest.set(cause, { atMs: nowMs, untold: 0 });
    return last?.untold ?? 0;
  }
}
