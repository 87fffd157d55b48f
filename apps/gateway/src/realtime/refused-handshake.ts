/** A refusal as Socket.IO hands it on: `connect_error` has its words as `message`, and as `data` what HTTP would answer. */
import { type ErrorAnswer, type ErrorCode, ObservatoryError } from '#contracts';

export function refusedHandshake(code: ErrorCode, detail?: string): ObservatoryError & { data: ErrorAnswer } {
  const error = new ObservatoryError(code, detail);
  return Object.assign(error, { data: error.toAnswer() });
}
