/**
 * Says why two texts must not be taken for the same question, however near their vectors. An embedder sees what a text
 * is about; what turns it round (a number, a "not", another city) moves its vector hardly at all. Where it is doubtful
 * whether two texts ask the same, they do not: a lost hit costs a call, a wrong one an answer.
 *
 * It knows words, not meaning: opposites and names come from lists, English and Chinese; other languages are compared by
 * their numbers, quotations, code, capital letters, and the negations of the commoner ones in Europe. A reworded text
 * passes, but not a template filled in anew, whose likeness is that of the template; the strict gate also asks for more than one
 * word of difference, for the same order, for the same prepositions, auxiliaries and degrees between the same words, and for the
 * same capitals and pauses.
 *
 * @see issue of the LLM cache; models/observatory-static-384/MODEL_CARD.md, "Thresholds"
 */
import type { TextVeto } from '#contracts';
import { normaliseText } from './char-classes.js';
import { contradictsNames, differsInLiterals, differsInValues } from './compare-facts.js';
import { differsInIntroduced } from './compare-introduced.js';
import { contradictsNegation } from './compare-negation.js';
import { differsInSigns } from './compare-signs.js';
import { differsInSpelling } from './compare-spelling.js';
import { readFacts } from './read-facts.js';
import {
  addsWords,
  exchangesPersons,
  exchangesRoles,
  fillingWeight,
  isOneWordApart,
  isReordered,
  isTurnedRound,
  WORD_WEIGHT,
} from './strict-gate.js';
import type { TextFacts } from './text-facts.js';

/** UTF-16 units of a text that are read. What lies beyond is compared letter by letter, as code is. */
export const VETO_TEXT_CHARS_MAX = 16_384;

export interface VetoOptions {
  /** For embedders that see words rather than meaning (`EmbedderDescription.needsStrictGate`). */
  strict: boolean;
  /**
   * One answer is to do for both: neither text may add to what the other says, were it several words, nor write what
   * stands behind a colon otherwise.
   */
  oneAnswer?: boolean;
}

/**
 * Symmetric and pure; never throws. Linear in the texts up to the bound.
 *
 * @returns the first reason in the order of `TEXT_VETOES`; null: nothing speaks against it
 */
export function decideVeto(
  earlier: string,
  later: string,
  { strict, oneAnswer = false }: VetoOptions,
): TextVeto | null {
  if (earlier === later) return null;
  const [head, tail] = cut(earlier);
  const [otherHead, otherTail] = cut(later);
  if (tail !== otherTail) return 'code';
  const [one, other] = [readFacts(head), readFacts(otherHead)];
  const values = differsInValues(one, other);
  if (values !== null) return values;
  if (contradictsNegation(one, other)) return 'negation';
  if (differsInLiterals(one, other, 'quotes')) return 'quotes';
  if (oneAnswer && differsInIntroduced(head, otherHead)) return 'quotes';
  if (differsInLiterals(one, other, 'code') || differsInSigns(head, otherHead)) return 'code';
  if (contradictsNames(one, other)) return 'entities';
  if (isOtherFilling(one, other, strict) || (strict && isOneWordApart(one, other))) return 'one_word';
  if ((strict && exchangesRoles(one, other)) || (oneAnswer && addsWords(one, other))) return 'one_word';
  if (isTurnedRound(one, other) || exchangesPersons(one, other)) return 'word_order';
  if ((strict || one.hasDirection || other.hasDirection) && isReordered(one, other)) return 'word_order';
  if (strict && differsInSpelling(one, other)) return 'spelling';
  return null;
}

/** 英文 for 英语, 两 for 2: who sees meaning may be left to judge of a single Han character. */
const isOtherFilling = (one: TextFacts, other: TextFacts, strict: boolean): boolean =>
  fillingWeight(one, other) >= (strict ? 1 : WORD_WEIGHT);

/** @returns what is read, normalised, and the rest */
function cut(text: string): [head: string, tail: string] {
  const head = normaliseText(text.length <= VETO_TEXT_CHARS_MAX ? text : text.slice(0, VETO_TEXT_CHARS_MAX));
  // A ligature may grow to 18 characters when it is normalised.
  return [
    head.slice(0, VETO_TEXT_CHARS_MAX),
    head.slice(VETO_TEXT_CHARS_MAX) + text.slice(VETO_TEXT_CHARS_MAX),
  ];
}
