/** The vendor's error object. Its type follows from the status; our own code has no place in it. */
import type { ErrorToWrite } from '../dialect.js';

/** @see https://docs.anthropic.com/en/api/errors */
const TYPES = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

export const messagesError = ({ status, message }: ErrorToWrite) => ({
  type: 'error',
  error: { type: TYPES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error'), message },
});
