/** Where the model's last word ends in a list of messages: what comes after it is what a request brings. */
import type { NewestTurn } from '#contracts';
import { DIALECT_LIMITS } from './dialect-limits.js';
import { asRecord, type JsonRecord } from './read-json.js';

export const emptyTurn = (): NewestTurn => ({ user_text: '', tool_results: [], attachment_digests: [] });

export interface NewestBounds {
  /** Index of the first message of the newest turn; the model's last message is before it. */
  start: number;
  /** Index after its last message: less than the list's length where the client ends with a prefill. */
  end: number;
}

/**
 * A short assistant text at the very end is a prefill: words the client puts into the model's mouth, so the turn it
 * belongs to is the one before it. A long one is an answer being continued, which brings nothing new.
 *
 * @param isModel whether the model said this message
 * @param plainText the message's text if it holds nothing but text, else null
 */
export function findNewest(
  messages: readonly unknown[],
  isModel: (message: JsonRecord) => boolean,
  plainText: (message: JsonRecord) => string | null,
): NewestBounds {
  let end = messages.length;
  const last = asRecord(messages[end - 1]);
  if (last && isModel(last)) {
    const text = plainText(last);
    if (text !== null && text.length <= DIALECT_LIMITS.prefillCharsMax) end -= 1;
  }
  let start = end;
  while (start > 0) {
    const message = asRecord(messages[start - 1]);
    if (message && isModel(message)) break;
    start -= 1;
  }
  return { start, end };
}
