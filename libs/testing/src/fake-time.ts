/** Time that passes when a test says so: a clock with the timers that run by it. */
import { FakeClock } from './fake-clock.js';

/** One turn of the event loop: everything that can go on without time, a store or a client has gone on. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Its timers go by the steady clock: whoever sets the wall clock leaves them as they are. */
export class FakeTime extends FakeClock {
  readonly #waiting = new Set<{ atMs: number; run: () => void; set: Error }>();

  get timerCount(): number {
    return this.#waiting.size;
  }

  /** Where each that waits was set: a timer that nobody expects may be somebody else's. */
  get timers(): string[] {
    return [...this.#waiting].map(({ set }) => set.stack ?? '');
  }

  /** Calls `run` once, `delayMs` from now. @returns how to call it off */
  after(delayMs: number, run: () => void): () => void {
    const waiting = { atMs: this.steadyMs() + Math.max(0, delayMs), run, set: new Error('set') };
    this.#waiting.add(waiting);
    return () => {
      this.#waiting.delete(waiting);
    };
  }

  /** Moves the clock and fires what is due, earliest first. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.steadyMs() + ms;
    for (;;) {
      const due = [...this.#waiting].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#waiting.delete(due);
      this.advance(Math.max(0, due.atMs - this.steadyMs()));
      due.run();
      await turn();
      await turn();
    }
    this.advance(untilMs - this.steadyMs());
    await turn();
  }

  /** Somebody sets the wall clock forward, or back where `byMs` is negative. */
  setWallClock(byMs: number): void {
    this.set(this.nowMs() + byMs);
  }
}
