/** When a failed delivery is tried again: a blip is over in a second, an outage in hours. */
import { HOUR_MS } from '#kernel';

/** Waits after the first, second, ... failed attempt; after the last one a delivery is dead. About eight hours in all. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000,
];
/** A wait is longer or shorter by up to this share, so that what failed together does not return together. */
const RETRY_JITTER = 0.2;
/** A receiver may ask for a longer wait (`Retry-After`), up to this. */
export const RETRY_AFTER_MS_MAX = HOUR_MS;

/** No wait after so many attempts is longer; 0 before the first. */
export const retryDelayMsMax = (attemptCount: number): number =>
  attemptCount === 0 ? 0 : (retryDelayMs(attemptCount, 1, RETRY_AFTER_MS_MAX) ?? 0);

/**
 * @param attemptCount attempts made so far, at least 1
 * @param random 0..1, one drawing
 * @returns milliseconds to wait, or null when it was the last attempt
 */
export function retryDelayMs(
  attemptCount: number,
  random: number,
  retryAfterMs: number | null = null,
): number | null {
  const baseMs = RETRY_DELAYS_MS[attemptCount - 1];
  if (baseMs === undefined) return null;
  const jitteredMs = Math.round(baseMs * (1 + RETRY_JITTER * (2 * random - 1)));
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX));
}
