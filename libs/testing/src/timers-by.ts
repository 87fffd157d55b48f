/** For code that waits by Node's own timers, in specs whose order must be the same every time: vitest's let real time in between. */
import { vi } from 'vitest';
import { TIMER_MS_MAX } from '#kernel';
import type { FakeTime } from './fake-time.js';

/** From now on `setTimeout` and `performance.now` go by `time`, until `realTimers`. */
export function timersBy(time: FakeTime): void {
  vi.stubGlobal('setTimeout', (run: () => void, delayMs = 1) => {
    // Node waits a millisecond for what it cannot wait.
    const callOff = time.after(delayMs >= 1 && delayMs <= TIMER_MS_MAX ? delayMs : 1, run);
    return { callOff, unref: () => {} };
  });
  vi.stubGlobal('clearTimeout', (timer?: { callOff: () => void } | null) => timer?.callOff());
  vi.spyOn(performance, 'now').mockImplementation(() => time.steadyMs());
}

export function realTimers(): void {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
}
