/** For stops, most of which are in force before they are stored: whoever asked for one does not wait for a disk that hangs. */
import { ObservatoryError } from '#contracts';
import { inTime, type Timer } from '#kernel';

export const STORED_WITHIN_MS = 3_000;

/**
 * Settles as `written` does, or rejects with store_busy when that takes its time; it goes on, and nobody hears of how it ends.
 *
 * @param late what whoever asked is told then
 */
export function storedInTime<Stored>(written: Promise<Stored>, timer: Timer, late?: string): Promise<Stored> {
  return inTime(written, STORED_WITHIN_MS, () => new ObservatoryError('store_busy', late), timer);
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
