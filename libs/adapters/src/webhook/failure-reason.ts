/** What went wrong on the way, in words of ours. */
import { type SendOutcome, sendFailed } from '#domain/alerts';
import { connectionFailure } from '#kernel';
import { AddressRefused } from './checked-lookup.js';

/** Never throws; never quotes the error's own text. */
export function failureOf(error: unknown, timeoutMs: number): SendOutcome {
  if (error instanceof AddressRefused) return sendFailed(`refused: ${error.message}`, { retryable: false });
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
    return sendFailed(`there was no answer within ${timeoutMs / 1_000} s`, { retryable: true });
  const { code, words } = connectionFailure(error);
  const reason = words ?? 'the connection failed';
  return sendFailed(code === null ? reason : `${reason} (${code})`, { retryable: true });
}
