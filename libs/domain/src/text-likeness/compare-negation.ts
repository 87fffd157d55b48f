/** Whether one text denies or reverses what the other says. */
import { singular } from './lexicon.js';
import { LOOSE_AXES, NEGATIVE_PREFIX } from './opposites.js';
import { isReordered } from './strict-gate.js';
import { type AxisSigns, hasWord, type TextFacts } from './text-facts.js';

export function contradictsNegation(one: TextFacts, other: TextFacts): boolean {
  if (one.negationCount % 2 !== other.negationCount % 2) return true;
  // "why does it not work, I can't see it" against a text without any: not worth the risk.
  if ((one.negationCount === 0) !== (other.negationCount === 0)) return true;
  if (one.negationCount > 0 && one.negated.join(' ') !== other.negated.join(' ') && isReordered(one, other))
    return true;
  return opposes(one, other) || hasNegativeOf(one, other) || hasNegativeOf(other, one);
}

function opposes(one: TextFacts, other: TextFacts): boolean {
  for (const [axis, signs] of one.signs) {
    const others = other.signs.get(axis);
    if (others !== undefined && areOpposed(signs, others, LOOSE_AXES.has(axis))) return true;
  }
  return false;
}

function areOpposed(one: AxisSigns, other: AxisSigns, isLoose: boolean): boolean {
  if (one.strong !== '' && other.strong !== '') {
    if (one.strong === other.strong) return false;
    return !isLoose || !shares(one.strong, other.strong);
  }
  if (one.strong !== '') return other.weak !== '' && isReversed(one.strong, other.weak);
  return one.weak !== '' && other.strong !== '' && isReversed(other.strong, one.weak);
}

const shares = (one: string, other: string): boolean =>
  one.split(' ').some((value) => other.split(' ').includes(value));

/** A weak word contradicts only what undoes: deletion against a look, off against on. */
const isReversed = (strong: string, weak: string): boolean =>
  !shares(strong, weak) && (strong === 'gone' || strong === 'off');

/** A word that only one text has is a negative of a word that only the other has: installed, uninstalled. */
const hasNegativeOf = (one: TextFacts, other: TextFacts): boolean =>
  one.prefixed.some((word) => {
    if (hasWord(other, word)) return false;
    const rest = word.replace(NEGATIVE_PREFIX, '');
    if (rest.length < 3 || hasWord(one, rest)) return false;
    return hasWord(other, rest) || hasWord(other, singular(rest));
  });
