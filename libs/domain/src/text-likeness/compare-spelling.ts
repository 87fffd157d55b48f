/**
 * What a reader sees and an embedder of lower-case words does not: a capital that makes another word (Polish and polish,
 * CO and Co), and a pause that makes another sentence ("let's eat, grandma" and "let's eat grandma").
 */
import { withoutMarkdown } from './compare-signs.js';
import { lookUp } from './lexicon.js';
import { isCapital, type TextFacts, type Token } from './text-facts.js';

/** A word or a Han character, and what stands before the next. */
const WORD_AND_GAP = /(\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}])+)([^\p{L}\p{M}\p{N}]*)/gu;
const PAUSE = /[,;:.!?…—、。]|\s-\s/;
/** Around these a comma is a matter of habit. */
const LIGHT_WORDS = new Set(
  'please pls thanks thank you hi hey hello dear and or but so ok okay well then'.split(' '),
);

/** Symmetric; linear in both texts. */
export const differsInSpelling = (one: TextFacts, other: TextFacts): boolean =>
  differsInCapitals(one, other) || differsInPauses(one.text, other.text);

/**
 * A word that both texts have, everywhere with other capitals. Nothing is told by the first letter of a sentence, a text in
 * capitals or with one at each word, nor of known names, which people write either way; nor by a text without any beside one
 * that opens with one, as sentences do.
 */
function differsInCapitals(one: TextFacts, other: TextFacts): boolean {
  if (isInCapitals(one) || isInCapitals(other)) return false;
  if ((hasNoCapital(one) && opensWithCapital(other)) || (hasNoCapital(other) && opensWithCapital(one)))
    return false;
  const there = spellingsOf(other);
  for (const [word, spellings] of spellingsOf(one)) {
    const others = there.get(word);
    if (others === undefined || word === 'i' || lookUp(word)?.isName) continue;
    if (!spellings.some((first) => others.some((second) => isSpelledLike(first, second)))) return true;
  }
  return false;
}

const isInCapitals = ({ spelled }: TextFacts): boolean =>
  spelled.every(({ raw }) => raw === raw.toUpperCase());

const hasNoCapital = ({ spelled }: TextFacts): boolean => spelled.every(({ text, raw }) => text === raw);

const opensWithCapital = ({ spelled: [first] }: TextFacts): boolean =>
  first !== undefined && isCapital(first);

type Spelling = Pick<Token, 'raw' | 'isOpening'>;

/** By the word in lower case, each spelling once. */
function spellingsOf({ spelled }: TextFacts): Map<string, Spelling[]> {
  const isTitle = spelled.every(isCapital);
  const byWord = new Map<string, Spelling[]>();
  for (const { text, raw, isOpening: opens } of spelled) {
    const spelling = { raw, isOpening: opens || isTitle };
    const known = byWord.get(text);
    if (known === undefined) byWord.set(text, [spelling]);
    else if (!known.some((each) => each.raw === raw && each.isOpening === spelling.isOpening))
      known.push(spelling);
  }
  return byWord;
}

const isSpelledLike = (one: Spelling, other: Spelling): boolean =>
  one.raw === other.raw || ((one.isOpening || other.isOpening) && one.raw.slice(1) === other.raw.slice(1));

/**
 * The same words throughout but for light ones, and somewhere between two of them only one text pauses. A line feed may be
 * either.
 */
function differsInPauses(one: string, other: string): boolean {
  const [here, there] = [gapsOf(one), gapsOf(other)];
  if (here.length !== there.length || here.some(({ word }, at) => word !== there[at]?.word)) return false;
  return here.some(({ gap }, at) => {
    const otherGap = there[at]?.gap;
    if (gap === undefined || otherGap === undefined || at === here.length - 1) return false;
    return !`${gap}${otherGap}`.includes('\n') && PAUSE.test(gap) !== PAUSE.test(otherGap);
  });
}

/** @returns the words that are not light, and what stands before the next; undefined: a light one does */
function gapsOf(text: string): { word: string; gap: string | undefined }[] {
  const gaps: { word: string; gap: string | undefined }[] = [];
  for (const [, word = '', gap] of withoutMarkdown(text).toLowerCase().matchAll(WORD_AND_GAP)) {
    const last = gaps.at(-1);
    if (!LIGHT_WORDS.has(word)) gaps.push({ word, gap });
    else if (last !== undefined) last.gap = undefined;
  }
  return gaps;
}
