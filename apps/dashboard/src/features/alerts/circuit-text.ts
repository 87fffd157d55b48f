/** Why nothing is sent through a channel now, and until when; null where it is. Pure. */
import type { AlertChannel } from '#contracts';
import { formatWait } from '../../ui/format';

export function circuitText({ state, retry_at_ms }: AlertChannel['circuit'], nowMs: number): string | null {
  if (state === 'closed' || retry_at_ms === null) return null;
  const waitMs = retry_at_ms - nowMs;
  const next = waitMs > 0 ? `next try in ${formatWait(waitMs)}` : 'trying now';
  return state === 'resting' ? `Resting as its receiver asked, ${next}` : `Failing, ${next}`;
}
