/** When a delivery that is pending is tried next. Pure. */
import type { AlertChannel, AlertDelivery } from '#contracts';
import { formatWait } from '../../ui/format';

/**
 * @param atMs when it is due itself; null: now
 * @param circuit of its channel, which it waits for as well, in the words of the list of channels; undefined: not known
 * @param aheadMs when one that it waits for is due; null: it waits for none
 */
export function nextTryText(
  atMs: number | null,
  circuit: Pick<AlertChannel['circuit'], 'state' | 'retry_at_ms'> | undefined,
  nowMs: number,
  aheadMs: number | null = null,
): string {
  const ownMs = atMs ?? nowMs;
  const dueMs = Math.max(ownMs, aheadMs ?? ownMs);
  const channelMs = circuit?.retry_at_ms ?? null;
  const waitMs = Math.max(dueMs, channelMs ?? dueMs) - nowMs;
  if (waitMs > 0) {
    const next = `next try in ${formatWait(waitMs)}`;
    if (channelMs !== null && channelMs > dueMs)
      return `its channel ${circuit?.state === 'resting' ? 'rests' : 'is failing'}, ${next}`;
    return dueMs > ownMs ? `waits for an earlier notice, ${next}` : next;
  }
  // One delivery tries, the others wait for how it ends. Without a rest two are sent at once, of one alert the oldest first.
  return channelMs === null ? 'due now' : 'waits for its channel';
}

/**
 * Deliveries of one alert go through a channel one after another: when the latest of the others is due.
 *
 * @returns asks for one of them; null where no other of its alert is pending
 */
export function tryAheadOf(deliveries: readonly AlertDelivery[]): (one: AlertDelivery) => number | null {
  const pending = new Map<string, AlertDelivery[]>();
  for (const one of deliveries) {
    if (one.state !== 'pending') continue;
    const key = alertOf(one);
    pending.set(key, [...(pending.get(key) ?? []), one]);
  }
  return (one) => {
    const others = (pending.get(alertOf(one)) ?? []).filter(
      ({ delivery_id }) => delivery_id !== one.delivery_id,
    );
    return others.length === 0 ? null : Math.max(...others.map((other) => other.next_attempt_at_ms ?? 0));
  };
}

const alertOf = ({ channel_id, notice: { rule_id, agent_id } }: AlertDelivery): string =>
  JSON.stringify([channel_id, rule_id, agent_id]);
