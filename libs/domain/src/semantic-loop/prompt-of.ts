/** What of a request is a prompt: the words its user has just written, and nothing else. */
import type { LlmRequest } from '#contracts';

/**
 * Newly delivered user text; null for a turn that brings none, such as one with tool results alone. Never the whole
 * conversation: a long one, cut to what a model reads, would look the same for ever.
 *
 * @see design, section 8
 */
export function promptOf({ newest }: Pick<LlmRequest, 'newest'>): string | null {
  return newest.user_text.trim() === '' ? null : newest.user_text;
}
