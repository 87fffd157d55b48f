/**
 * Which words of a text also stand, in the same order, in the one it is compared with: the longest common subsequence
 * of their words. What repeated then stands out, and the number or name that changed does not. Pure.
 */

export interface TextRun {
  text: string;
  isShared: boolean;
}

/** Words compared; evidence is cut at 1,000 characters, so this is never reached by it. */
export const WORDS_MAX = 600;

const wordsOf = (text: string): string[] => text.match(/\S+/g) ?? [];
/** Case and the punctuation around a word do not make it another; a sign before a number does. */
const keyOf = (word: string): string => word.toLowerCase().replace(/^["'“‘(]+|["'”’).,;:!?]+$/g, '') || word;

/**
 * Runs of shared and own text; together they are the whole text, white space included. Cost: product of the word counts, for
 * each reference.
 *
 * @param references shared is what any of them has
 */
export function emphasise(text: string, ...references: readonly string[]): TextRun[] {
  const words = wordsOf(text);
  const others = references.map(wordsOf);
  if (words.length === 0 || [words, ...others].some(({ length }) => length > WORDS_MAX)) {
    return text === '' ? [] : [{ text, isShared: words.length > 0 && references.includes(text) }];
  }
  const keys = words.map(keyOf);
  const shared = others.map((theirs) => sharedWords(keys, theirs.map(keyOf)));
  return joinRuns(
    text,
    words.map((_, index) => shared.some((flags) => flags[index])),
  );
}

/** Of each of `words`, whether it takes part in the longest common subsequence. */
function sharedWords(words: readonly string[], others: readonly string[]): boolean[] {
  const columns = others.length + 1;
  const lengths = new Uint16Array((words.length + 1) * columns);
  const at = (row: number, column: number): number => lengths[row * columns + column] ?? 0;
  for (let row = words.length - 1; row >= 0; row -= 1) {
    for (let column = others.length - 1; column >= 0; column -= 1) {
      lengths[row * columns + column] =
        words[row] === others[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const shared = words.map(() => false);
  let row = 0;
  let column = 0;
  while (row < words.length && column < others.length) {
    if (words[row] === others[column]) {
      shared[row] = true;
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return shared;
}

/** White space between two shared words is shared too, so that a repeated sentence is one run. */
function joinRuns(text: string, shared: readonly boolean[]): TextRun[] {
  const runs: TextRun[] = [];
  let wordIndex = 0;
  const add = (part: string, isShared: boolean) => {
    const last = runs.at(-1);
    if (last && last.isShared === isShared) last.text += part;
    else runs.push({ text: part, isShared });
  };
  for (const part of text.split(/(\s+)/)) {
    if (part === '') continue;
    if (/^\s/.test(part)) {
      add(part, wordIndex > 0 && shared[wordIndex - 1] === true && shared[wordIndex] === true);
    } else {
      add(part, shared[wordIndex] === true);
      wordIndex += 1;
    }
  }
  return runs;
}
