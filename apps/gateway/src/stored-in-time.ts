/** For what is in force before it is stored: whoever asked for it does not wait for a disk that hangs. */
import { ObservatoryError } from '#contracts';
import { inTime, type Timer } from '#kernel';

export const STORED_WITHIN_MS = 3_000;

/** Settles as `written` does, or rejects with store_busy when that takes its time; it goes on, and nobody hears of how it ends. */
export function storedInTime(written: Promise<void>, timer: Timer): Promise<void> {
  return inTime(written, STORED_WITHIN_MS, () => new ObservatoryError('store_busy'), timer);
}

/** For `catch`: says of what is in force that the store took nothing of it yet. @param what such as a stop */
export const inForceUnsaved =
  (what: string) =>
  (error: unknown): never => {
    const { code, extra } =
      error instanceof ObservatoryError ? error : new ObservatoryError('internal_error');
    const detail = `The ${what} is in force, but not stored: it is stored as soon as the store takes it. A restart before that would forget it.`;
    throw new ObservatoryError(code, detail, extra);
  };
