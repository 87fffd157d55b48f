/**
 * Cuts of text that cost nothing, made before it is sent to a model's thread: however long a text is, what is copied,
 * normalised and cut into tokens is bounded. A pair of surrogates is never split.
 */
import { wholeEnd } from '#kernel';

/** The first `charsMax` UTF-16 units of a text, one less where that would split a character. */
export function cutToHead(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return text.slice(0, wholeEnd(text, charsMax));
}

/** The first and the last `charsMax / 2` units with a line break between them; text within `charsMax` is unchanged. */
export function cutToEnds(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const from = text.length - half;
  const tail = text.slice(wholeEnd(text, from) === from ? from : from + 1);
  return `${cutToHead(text, half)}\n${tail}`;
}
