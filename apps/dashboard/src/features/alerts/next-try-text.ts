/** When a delivery that is pending is tried next. Pure. */
import type { AlertChannel } from '#contracts';
import { formatWait } from '../../ui/format';

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
  const waitMs = Math.max(dueMs, channelMs ?? dueMs) - nowMs;
  if (waitMs > 0)
    return channelMs !== null && channelMs > dueMs
      ? `its channel rests, next try in ${formatWait(waitMs)}`
      : `next try in ${formatWait(waitMs)}`;
  // One delivery tries, the others wait for how it ends. Without a rest two are sent at once, of one alert the oldest first.
  return channelMs === null ? 'due now' : 'waits for its channel';
}
