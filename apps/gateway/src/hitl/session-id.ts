import { LIMITS, ObservatoryError } from '#contracts';

/** A session id from a path. @throws ObservatoryError session_not_found for one that no session can have */
export function parseSessionId(text: string): string {
  if (text === '' || text.length > LIMITS.idCharsMax) throw new ObservatoryError('session_not_found');
  return text;
}
