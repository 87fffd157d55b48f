/**
 * Two texts of the same words that only brackets, operators or indentation tell apart: 2 * (3 + 4) and (2 * 3) + 4. No
 * embedder of words sees them, so the vectors of such texts are one and the same. What prose has around words says nothing.
 */

/** Bullets and headings at the beginning of a line, with something behind them. */
const BULLET = /^[ \t]*(?:[-*•]|#{1,6})[ \t]+(?=\S)/gm;
/** `**bold**`, `_so_`: around words, never within them. */
const EMPHASIS = /(?<![\p{L}\p{N}])([*_]{1,3})(?=\S)([^*_\n]{1,200})(?<=\S)\1(?![\p{L}\p{N}])/gu;
/** Words, then signs; an exclamation mark is one only in front of what it negates. */
const WORD_OR_SIGN =
  /[\p{L}\p{M}\p{N}]+|[()[\]{}<>|&^~$@\\=+/%*¬±]|!(?=[\p{L}\p{N}(])|\?[?.](?=\s*[\p{L}\p{N}])|\n[ \t]+(?=\S)/gu;
const WORD = /^[\p{L}\p{M}\p{N}]/u;

/** Symmetric; linear in both texts, which are normalised. */
export function differsInSigns(one: string, other: string): boolean {
  const [here, there] = [partsOf(one), partsOf(other)];
  return here.join(' ') !== there.join(' ') && wordsOf(here) === wordsOf(there);
}

export const withoutMarkdown = (text: string): string =>
  text.replaceAll(BULLET, '').replaceAll(EMPHASIS, '$2');

const partsOf = (text: string): string[] => withoutMarkdown(text).toLowerCase().match(WORD_OR_SIGN) ?? [];

const wordsOf = (parts: readonly string[]): string => parts.filter((part) => WORD.test(part)).join(' ');
