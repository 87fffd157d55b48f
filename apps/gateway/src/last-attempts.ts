/**
 * At the end of the process: what the store refused is tried again. For longer than a second, since of a disk that was full it
 * tries once a second whether it has room again, and refuses everything else until then.
 */
import type { Timer } from '#kernel';

const COUNT_MAX = 15;
const INTERVAL_MS = 100;

/** The first at once. @param attempt whether nothing is left; never rejects */
export async function lastAttempts(timer: Timer, attempt: () => Promise<boolean>): Promise<void> {
  for (let count = 1; !(await attempt()) && count < COUNT_MAX; count += 1)
    await new Promise<void>((resolve) => void timer.after(INTERVAL_MS, resolve));
}
