/** For what is in force before it is stored: whoever asked for it does not wait for a disk that hangs. */
import { ObservatoryError } from '#contracts';
import { inTime, type Timer } from '#kernel';

export const STORED_WITHIN_MS = 3_000;

/** Settles as `written` does, or rejects with store_busy when that takes its time; it goes on, and nobody hears of how it ends. */
export function storedInTime(written: Promise<void>, timer: Timer): Promise<void> {
  return inTime(written, STORED_WITHIN_MS, () => new ObservatoryError('store_busy'), timer);
}
