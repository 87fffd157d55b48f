/** The way to wait where tests let the time pass. */
export interface Timer {
  /** Calls `run` once, `delayMs` from now (clamped to what a Node timer can do). Returns how to call it off. */
  after(delayMs: number, run: () => void): () => void;
}

/** Node overflows beyond this and would fire at once; whoever waits longer is called early and looks again. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Never keeps the process alive. */
export const systemTimer: Timer = {
  after(delayMs, run) {
    const handle = setTimeout(run, Math.min(Math.max(delayMs, 0), TIMER_MS_MAX));
    handle.unref();
    return () => clearTimeout(handle);
  },
};
