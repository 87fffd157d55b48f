/** How much of a prompt's text is remembered. Its vector stands for all that its model read. */
import { wholeEnd } from '#kernel';

/** UTF-16 code units; several times what any of our models reads of a text. */
export const PROMPT_CHARS_MAX = 8_000;

/**
 * The beginning of a prompt as every store gives it back: well-formed, never half a character at the cut, and a copy,
 * since a slice would keep the whole text alive. To compare words, cut the newer prompt likewise.
 */
export function cutPrompt(prompt: string): string {
  if (prompt === '') return '';
  const end = wholeEnd(prompt, Math.min(prompt.length, PROMPT_CHARS_MAX));
  // By way of bytes: copies, and puts U+FFFD for what UTF-8 cannot carry.
  return Buffer.from(prompt.slice(0, end)).toString();
}
