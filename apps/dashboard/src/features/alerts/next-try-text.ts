/** When a delivery that is pending is tried next. Pure. */
import type { AlertChannel } from '#contracts';

/**
 * @param atMs when it is due itself; null: now
 * @param circuit of its channel, which it waits for as well; undefined: not known
 */
export function nextTryText(
  atMs: number | null,
  circuit: AlertChannel['circuit'] | undefined,
  nowMs: number,
): string {
  const dueMs = atMs ?? nowMs;
  const channelMs = circuit?.retry_at_ms ?? null;
  const waitS = Math.ceil((Math.max(dueMs, channelMs ?? dueMs) - nowMs) / 1_000);
  if (waitS > 0)
    return channelMs !== null && channelMs > dueMs
      ? `its channel rests, next try in ${waitS} s`
      : `next try in ${waitS} s`;
  // One delivery tries, the others wait for how it ends.
  return channelMs === null ? 'being sent' : 'waits for its channel';
}
