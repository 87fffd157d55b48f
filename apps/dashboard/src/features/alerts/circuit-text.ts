/** That a channel does not take what is sent, and when it is tried next; null where it does. Pure. */
import type { AlertChannel } from '#contracts';
import { formatWait } from '../../ui/format';

export function circuitText(
  { state, retry_at_ms }: Pick<AlertChannel['circuit'], 'state' | 'retry_at_ms'>,
  nowMs: number,
): string | null {
  if (state === 'refusing') return 'Failing: the latest notice was refused';
  if (state === 'closed' || retry_at_ms === null) return null;
  const waitMs = retry_at_ms - nowMs;
  const next = waitMs > 0 ? `next try in ${formatWait(waitMs)}` : 'trying now';
  return state === 'resting' ? `Resting as its receiver asked, ${next}` : `Failing, ${next}`;
}
