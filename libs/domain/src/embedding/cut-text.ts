/**
 * Cuts of text that cost nothing, made before it is sent to a model's thread: however long a text is, what is copied,
 * normalised and cut into tokens is bounded. A pair of surrogates is never split.
 */

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** The first `charsMax` UTF-16 units of a text, one less where that would split a character. */
export function cutToHead(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax);
}

/** The first and the last `charsMax / 2` units with a line break between them; text within `charsMax` is unchanged. */
export function cutToEnds(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const from = text.length - half;
  const tail = text.slice(isHighSurrogate(text.charCodeAt(from - 1)) ? from + 1 : from);
  return `${cutToHead(text, half)}\n${tail}`;
}
