/** What changes of an agent's policy and of its kill switch have in common. */
import { ObservatoryError } from '#contracts';

export function requirePlace(hasPlace: boolean): void {
  if (!hasPlace) throw new ObservatoryError('invalid_request', 'Too many agents have settings of their own.');
}

/** Then nothing is written, in the audit neither, as with `PATCH /v1/config`. */
export const isEmpty = (changes: object): boolean => Object.keys(changes).length === 0;
