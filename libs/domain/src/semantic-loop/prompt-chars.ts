/** How much of a prompt's text is remembered. Its vector stands for all that its model read. */
import { hash } from 'node:crypto';
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

/** Hexadecimal digits of a digest that stand for what is left out. */
const OMITTED_DIGITS = 16;

/**
 * What is compared of a prompt: no model reads more, and stores keep no more. Of a longer one the beginning and the end,
 * since what is asked about a long document stands behind or before it, and between them a digest of the rest: two
 * documents in one frame are not the same prompt.
 */
export function excerptOf(prompt: string): string {
  if (prompt.length <= PROMPT_CHARS_MAX) return cutPrompt(prompt);
  const half = Math.floor(PROMPT_CHARS_MAX / 2) - OMITTED_DIGITS;
  const omitted = hash('sha256', prompt.slice(half, -half));
  // With an underscore it is compared letter by letter, as names in code are.
  return cutPrompt(
    `${prompt.slice(0, half)}\nomitted_${omitted.slice(0, OMITTED_DIGITS)}\n${prompt.slice(-half)}`,
  );
}
