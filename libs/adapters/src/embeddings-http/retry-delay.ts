/** How long to wait before a server is asked again. Pure. */
import { HTTP_EMBEDDER_LIMITS } from './settings.js';

/**
 * The server's own wish, else a backoff that doubles.
 *
 * @param attempt that has just failed, from 1
 * @param random 0..1
 * @returns milliseconds; null: it wants to be left alone for longer than texts can wait
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: number): number | null {
  const { backoffMs, backoffMsMax, retryAfterMsMax } = HTTP_EMBEDDER_LIMITS;
  if (retryAfterMs !== null) return retryAfterMs > retryAfterMsMax ? null : retryAfterMs;
  const fullMs = Math.min(backoffMsMax, backoffMs * 2 ** (attempt - 1));
  return Math.round(fullMs * (0.5 + random / 2));
}

/**
 * A `Retry-After` header: seconds, or a date.
 *
 * @returns milliseconds from now, 0 and up; null: absent or unreadable
 */
export function parseRetryAfter(value: string | string[] | undefined, nowMs: number): number | null {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined) return null;
  if (/^\d{1,9}(\.\d+)?$/.test(text.trim())) return Math.round(Number(text) * 1_000);
  // Date.parse reads far more than HTTP allows; a date of HTTP ends in GMT.
  const atMs = text.trim().endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
