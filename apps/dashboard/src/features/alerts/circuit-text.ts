/** Why nothing is sent through a channel now, and until when; null where it is. Pure. */
import type { AlertChannel } from '#contracts';

export function circuitText({ state, retry_at_ms }: AlertChannel['circuit'], nowMs: number): string | null {
  if (state === 'closed' || retry_at_ms === null) return null;
  const waitS = Math.max(0, Math.ceil((retry_at_ms - nowMs) / 1_000));
  const next = waitS > 0 ? `next try in ${waitS} s` : 'trying now';
  return state === 'resting' ? `Resting as its receiver asked, ${next}` : `Failing, ${next}`;
}
