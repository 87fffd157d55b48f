/**
 * The lexical gate of models/observatory-static-384/MODEL_CARD.md: a bag of features cannot tell a word that was
 * exchanged for its like, nor the same words in another order, from the same question.
 */
import type { TextFacts } from './text-facts.js';

/** One word weighs as much as two Han characters. */
export const WORD_WEIGHT = 2;

const weightOf = (word: string): number =>
  word.length <= 2 && word.charCodeAt(0) >= 0x3005 ? 1 : WORD_WEIGHT;

/**
 * Exactly one content word, or up to two Han characters, added, dropped or exchanged; or none, but a word that is content
 * only where it stands, or a question of yes or no.
 */
export function isOneWordApart(one: TextFacts, other: TextFacts): boolean {
  const weight = weightApart(one.content, other.content);
  if (weight > 0) return weight <= WORD_WEIGHT;
  return hasSameContent(one, other) && one.light.join() !== other.light.join();
}

/**
 * One template filled in twice: the same content words in the same order but for one stretch that both have, and more
 * than half of the longer text is what they share. What was said of one filling is not said of the other; a text that
 * only grew by some words is none, nor is one that changed in more than one place beyond its half.
 *
 * @returns the weight of the lighter stretch; 0: they are no such fillings
 */
export function fillingWeight({ content: one }: TextFacts, { content: other }: TextFacts): number {
  const lengthMin = Math.min(one.length, other.length);
  let head = 0;
  while (head < lengthMin && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < lengthMin - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  if (head + tail === lengthMin) return 0;
  const weight = (words: readonly string[]) => words.reduce((sum, word) => sum + weightOf(word), 0);
  const shared = weight(one.slice(0, head)) + weight(one.slice(one.length - tail));
  const [lighter, heavier] = [weight(one), weight(other)].sort((a, b) => a - b) as [number, number];
  return 2 * shared > heavier ? lighter - shared : 0;
}

/**
 * The same content words, but I and you have changed places: "do I owe you" against "do you owe me". Politeness adds
 * persons ("could you", "tell me") and exchanges none, so those of one text may all be among the other's, in order.
 */
export const exchangesPersons = (one: TextFacts, other: TextFacts): boolean =>
  hasSameContent(one, other) && exchanges(one.persons, other.persons);

/**
 * The same content words, but "to 20 percent" and "by 20 percent", "may I" and "must I", "did it" and "will it". A shorter
 * way to ask leaves some of them out and exchanges none; `by` tells who did from who was done to, and what may or must be,
 * would be or was, is said by its verb alone.
 */
export const exchangesRoles = (one: TextFacts, other: TextFacts): boolean =>
  hasSameContent(one, other) &&
  (ROLE_KINDS.some((kind) => exchanges(one.roles[kind], other.roles[kind])) || told(one) !== told(other));

const ROLE_KINDS = ['places', 'verbs', 'pointers'] as const;
/** Words that a shorter way to ask leaves out. */
const LEFT_OUT_BY_HABIT = new Set('at in on to for of as is do have this that i me you it'.split(' '));

const told = ({ roles, persons }: TextFacts): string =>
  [...ROLE_KINDS.map((kind) => roles[kind]), persons]
    .map((words) => words.filter((word) => !LEFT_OUT_BY_HABIT.has(word)).join(' '))
    .join();

const hasSameContent = ({ content: one }: TextFacts, { content: other }: TextFacts): boolean =>
  one.length === other.length && one.every((word, at) => word === other[at]);

const exchanges = (one: readonly string[], other: readonly string[]): boolean =>
  !holdsInOrder(one, other) && !holdsInOrder(other, one);

function holdsInOrder(all: readonly string[], some: readonly string[]): boolean {
  let found = 0;
  for (const each of all) if (each === some[found]) found += 1;
  return found === some.length;
}

/** All that one text says stands in the other, in order and with more between or around it: a condition, a place, a kind. */
export const addsWords = ({ content: one }: TextFacts, { content: other }: TextFacts): boolean =>
  one.length !== other.length && (holdsInOrder(one, other) || holdsInOrder(other, one));

/** The same content words, each as often, in another order. */
export function isReordered(one: TextFacts, other: TextFacts): boolean {
  const { length } = one.content;
  if (length !== other.content.length) return false;
  if (hasSameContent(one, other)) return false;
  return weightApart(one.content, other.content) === 0;
}

/** What one text comes from, the other goes to. */
export const isTurnedRound = (one: TextFacts, other: TextFacts): boolean =>
  swaps(one, other) || swaps(other, one);

const swaps = (one: TextFacts, other: TextFacts): boolean =>
  other.to.length > 0 &&
  one.from.some((word) => word !== '' && !other.from.includes(word) && other.to.includes(word));

/** Of the words that one list has and the other has not, or not as often: the larger of both sides. */
function weightApart(one: readonly string[], other: readonly string[]): number {
  const counts = new Map<string, number>();
  let missing = 0;
  for (const word of other) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    missing += weightOf(word);
  }
  let added = 0;
  for (const word of one) {
    const count = counts.get(word) ?? 0;
    if (count > 0) {
      counts.set(word, count - 1);
      missing -= weightOf(word);
    } else added += weightOf(word);
  }
  return Math.max(added, missing);
}
