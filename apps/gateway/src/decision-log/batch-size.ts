/** How many DecisionLogs may come at once, by whichever way they come. */
import { LIMITS, ObservatoryError } from '#contracts';

/** @throws ObservatoryError invalid_request for none, payload_too_large for too many */
export function requireBatchSize(count: number): void {
  if (count === 0)
    throw new ObservatoryError('invalid_request', 'The batch is empty; send at least one DecisionLog.');
  if (count > LIMITS.batchCountMax) {
    throw new ObservatoryError(
      'payload_too_large',
      `The batch holds more than ${LIMITS.batchCountMax} DecisionLogs; send at most so many at once.`,
    );
  }
}
