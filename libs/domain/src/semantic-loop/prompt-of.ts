/** What of a request is a prompt: the words its user has just written, and nothing else. */
import type { LlmRequest } from '#contracts';
import { excerptOf } from './prompt-chars.js';

/** Fewer say too little to be a question: "yes please" and "continue" come again and again where all goes well. */
const PROMPT_WORDS_MIN = 3;
/** So many letters say enough whatever their words: not every script puts spaces between them. */
const PROMPT_LETTERS_MIN = 20;

/**
 * Newly delivered user text, or that in front of the model's words with which the request ends; null for a turn that brings none, such as one with tool results alone, or too little to
 * be asked twice. Of a long text its excerpt: whoever asks reads it once. Never the whole conversation: a long one, cut to what a model reads, would look the same for ever.
 *
 * @see design, section 8
 */
export function promptOf({ newest }: Pick<LlmRequest, 'newest'>): string | null {
  const text = newest.user_text || (newest.continued_text ?? '');
  return saysEnough(text) ? excerptOf(text) : null;
}

/** An ideograph is a word by itself; of others no more is read than is enough. */
const WORD = /\p{Ideographic}|(?:(?!\p{Ideographic})[\p{L}\p{M}\p{N}'’]){1,20}/gu;

/** Reads no further than it must. */
function saysEnough(text: string): boolean {
  let [words, letters] = [0, 0];
  for (const [word] of text.matchAll(WORD)) {
    words += 1;
    letters += word.length;
    if (words >= PROMPT_WORDS_MIN || letters >= PROMPT_LETTERS_MIN) return true;
  }
  return false;
}
