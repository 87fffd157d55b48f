/** The text of a request that a semantic match may differ in. */
import type { CanonicalMessage, CanonicalRequest } from '#contracts';
import { unitAt } from '#kernel';

/** An embedder reads about as much; of a longer text only the beginning would be compared. */
export const SCOPE_PROMPT_WORDS_MAX = 256;
/** Bounds the work of counting words, and what an entry keeps of a prompt. */
export const SCOPE_PROMPT_CHARS_MAX = 4_096;

export interface LastUserText {
  prompt: string;
  /** The last message without it. */
  before: CanonicalMessage;
}

/**
 * Null unless the temperature is given and 0 and the last message is the user's and nothing but text, of which the last
 * part is the prompt and the parts before it belong to the scope. The vendor must not keep the answer: a Responses request
 * needs `store: false`.
 */
export function lastUserText(request: CanonicalRequest): LastUserText | null {
  if (request.temperature !== 0 || isKeptUnderItsQuestion(request)) return null;
  const last = request.messages.at(-1);
  if (last?.role !== 'user' || last.extra !== null || !last.parts.every(isText)) return null;
  const prompt = last.parts.at(-1);
  if (prompt === undefined || !isPrompt(prompt)) return null;
  return { prompt, before: { ...last, parts: last.parts.slice(0, -1) } };
}

/** A later request may fetch such an answer by its id, or go on from it, and would have the other question. */
const isKeptUnderItsQuestion = ({ rest }: CanonicalRequest): boolean => rest.store === true;

const isText = (part: unknown): part is string => typeof part === 'string';

function isPrompt(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > SCOPE_PROMPT_CHARS_MAX) return false;
  const count = countWords(text);
  return count > 0 && count <= SCOPE_PROMPT_WORDS_MAX;
}

const ASCII_MAX = 0x7f;
const SPACE = 0x20;
/** The other blanks of ASCII lie between these two. */
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;

/** Where words are written without blanks between them, each sign counts. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

/** Stops counting above the bound. ASCII alone, as most prompts are, takes a fraction of what the expression does. */
function countWords(text: string): number {
  let count = 0;
  let wasBlank = true;
  for (let at = 0; at < text.length && count <= SCOPE_PROMPT_WORDS_MAX; at += 1) {
    const unit = unitAt(text, at);
    if (unit > ASCII_MAX) return countAnyWords(text);
    const isBlank = unit === SPACE || (unit >= TAB && unit <= CARRIAGE_RETURN);
    if (wasBlank && !isBlank) count += 1;
    wasBlank = isBlank;
  }
  return count;
}

function countAnyWords(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(WORDS)) {
    count += 1;
    if (count > SCOPE_PROMPT_WORDS_MAX) break;
  }
  return count;
}
