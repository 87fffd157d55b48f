/** The vendor's error object, with our code as the reason of its `ErrorInfo`. */
import type { ErrorToWrite } from '../dialect.js';

/** @see https://cloud.google.com/apis/design/errors */
const STATUSES = new Map([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
]);

export const geminiError = ({ status, code, message }: ErrorToWrite) => ({
  error: {
    code: status,
    message,
    status: STATUSES.get(status) ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT'),
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: code.toUpperCase(),
        domain: 'observatory',
      },
    ],
  },
});
