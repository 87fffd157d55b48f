import { PING_EVERY_MS } from '#contracts';

/** The state of the one socket, and how long to wait before the next try. */

export type ConnectionState =
  /** Never connected yet. */
  | { kind: 'connecting' }
  | { kind: 'connected' }
  /** The socket stands, but nothing has come through it since, not even a ping. */
  | { kind: 'silent'; sinceMs: number }
  /** Lost a moment ago; the next try is at `retryAtMs` (null: trying right now). */
  | { kind: 'reconnecting'; sinceMs: number; retryAtMs: number | null }
  /** Several tries failed, or the device has no network. Tries go on. */
  | { kind: 'offline'; sinceMs: number; retryAtMs: number | null };

/** Tries that fail before the page says "offline". */
export const OFFLINE_AFTER_ATTEMPTS = 4;
/** Two pings that did not come. */
export const SILENT_AFTER_MS = 2 * PING_EVERY_MS;
const RETRY_FIRST_MS = 500;
const RETRY_MS_MAX = 15_000;

/**
 * Exponential with jitter, so that a restarted gateway is not met by every browser at once.
 * @param attempt 0 for the first try after a loss
 * @param random in [0, 1)
 */
export function retryDelayMs(attempt: number, random: number): number {
  const ceiling = Math.min(RETRY_MS_MAX, RETRY_FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
