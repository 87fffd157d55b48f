/** What a thread of the store could not do, as it goes to whoever asked: on one side of the message, and on the other. */
import { ObservatoryError } from '#contracts/store';
import { damageDetail } from './database-file.js';
import { diskFullDetail, isLocked } from './disk-full.js';
import type { ThreadFailure } from './protocol.js';

/** @param path of the database */
export function toFailure(path: string, error: unknown): ThreadFailure {
  const full = diskFullDetail(error);
  if (full !== null) return { reason: 'full', detail: full };
  const damage = damageDetail(path, error);
  if (damage !== null) return { reason: 'damaged', detail: damage };
  const detail = error instanceof Error ? error.message : String(error);
  return { reason: isLocked(error) ? 'busy' : 'failed', detail };
}

/** The thread answered that it could not. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError';

  constructor(readonly failure: ThreadFailure) {
    super(failure.detail);
  }
}

/** A page cannot be read. Strangers are told so, and the log where the file is and what to do. */
class StoreDamagedError extends ObservatoryError {
  constructor(detail: string) {
    super('store_damaged');
    this.message = detail;
  }
}

/** As whoever asked is to see it. */
export const toError = (failure: ThreadFailure): Error =>
  failure.reason === 'damaged' ? new StoreDamagedError(failure.detail) : new ThreadError(failure);
