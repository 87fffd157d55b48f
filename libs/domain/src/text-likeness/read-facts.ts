/** From the tokens of a text to what its comparison needs: words are read with their neighbours. */

import { lookUp, singular, type WordEntry } from './lexicon.js';
import { NEGATIVE_PREFIX, PARTICLES } from './opposites.js';
import { readHan } from './read-han.js';
import { readText } from './read-text.js';
import { RATES, readDate, readNumberToken, readNumberWord, readOrdinal } from './read-values.js';
import { addSign, addWord, emptyFacts, isCapital, type TextFacts, type Token } from './text-facts.js';

/** Behind these a unit is a date: next week. */
const THIS_OR_NEXT = new Set(['this', 'next', 'last', 'previous', 'past', 'coming', 'current']);
const DETERMINERS = new Set(['a', 'an', 'the', 'my', 'your', 'our', 'his', 'her', 'their', 'this', 'that']);
const NO_NEGATION_BEFORE = new Set(['only', 'forget', 'hesitate', 'worry', 'problem', 'worries', 'rush']);

/** Verbs that open a question when they open a sentence; it weighs as a word of content. */
const OPENING_VERBS = new Set('do does did is are am was were has have must should'.split(' '));
const HAVE_OR_NEED = new Set('have has need needs'.split(' '));
const MODALS = new Set('can could will'.split(' '));
const WHO_WANTS = new Set(['i', 'we']);
/** Behind `to`; `me` and `us` are those who ask. */
const PERSONS_ASKED = new Set('you him her them whom'.split(' '));
const GREETINGS = new Set('please hi hey hello so and ok okay well thanks'.split(' '));
const QUESTION = '?';
/** Common words that are names in capitals, and the keys of those names; no other word is spelled like the last two. */
const NAMED_IN_CAPITALS = new Map([
  ['us', 'usa'],
  ['it', 'IT'],
  ['who', 'WHO'],
]);

export function readFacts(text: string): TextFacts {
  const { tokens, quotes, code, hasArrow } = readText(text);
  const facts = emptyFacts(text);
  facts.quotes = quotes;
  facts.code = code;
  facts.hasDirection = hasArrow;
  facts.spelled = tokens.filter(({ kind }) => kind === 'word');
  for (let at = 0; at < tokens.length; ) at = readToken(tokens, at, facts);
  return facts;
}

/** @returns the token to go on with */
function readToken(tokens: readonly Token[], at: number, facts: TextFacts): number {
  const token = tokens[at] as Token;
  switch (token.kind) {
    case 'number':
      return readNumberToken(tokens, at, token, facts);
    case 'literal':
      if (token.unit !== '') facts.values.push({ key: token.text, isDate: token.unit === 'date' });
      facts.content.push(token.text);
      addWord(facts, token.text);
      return at + 1;
    case 'han':
      readHan(token, 0, facts);
      return at + 1;
    default:
      return readWord(tokens, at, token, facts);
  }
}

function readWord(tokens: readonly Token[], at: number, token: Token, facts: TextFacts): number {
  const word = token.text;
  const entry = lookUp(word);
  addWord(facts, word);
  const single = singular(word);
  if (single !== word) addWord(facts, single);
  if (word.length > 4 && NEGATIVE_PREFIX.test(word)) facts.prefixed.push(word);
  if (entry === undefined) {
    facts.content.push(single);
    if (isName(token)) facts.names.push({ key: single, isOpening: token.isOpening });
    return at + 1;
  }
  if (entry.person !== undefined) facts.persons.push(entry.person);
  if (entry.role !== undefined && !isIdleRole(tokens, at))
    facts.roles[entry.role.kind].push(entry.role.value);
  const next = readMeaning(tokens, at, token, entry, facts);
  if (next > 0) return next;
  if (!entry.isStop) facts.content.push(single);
  else if (OPENING_VERBS.has(word) && asksYesOrNo(tokens, at, token)) facts.content.push(QUESTION);
  const named = NAMED_IN_CAPITALS.get(word);
  if (named !== undefined && isInCapitals(tokens, at)) {
    facts.names.push({ key: named, isOpening: false });
    addWord(facts, named);
  }
  if (entry.isName || (!entry.isStop && entry.date === undefined && isName(token)))
    facts.names.push({ key: single, isOpening: token.isOpening && !entry.isName });
  if (entry.signs !== undefined)
    for (const { axis, value, isWeak } of entry.signs) addSign(facts.signs, axis, value, isWeak);
  return at + 1;
}

/**
 * "could you", "how can I", "explain it to me" and "I have to" are ways to ask; `to` before a verb is grammar, and `have` and
 * `need` are duties in front of it alone.
 */
function isIdleRole(tokens: readonly Token[], at: number): boolean {
  const [before, { text: word }, after] = [tokens[at - 1], tokens[at] as Token, tokens[at + 1]];
  if (word === 'to') return !isThing(after) && !PERSONS_ASKED.has(after?.text ?? '');
  if (word === 'for') return after?.text === 'me' || after?.text === 'us';
  if (HAVE_OR_NEED.has(word)) return after?.text !== 'to' || isStatement(tokens, at);
  return (
    (MODALS.has(word) && after?.text === 'you') ||
    (before?.text === 'how' && lookUp(word)?.role?.kind !== 'places')
  );
}

/** A sentence that opens with "I need to" says what is wanted; "do I need to" and "what I need to" are about a duty. */
const isStatement = (tokens: readonly Token[], at: number): boolean => {
  const who = tokens[at - 1];
  if (who === undefined || !WHO_WANTS.has(who.text)) return false;
  return who.isOpening || GREETINGS.has(tokens[at - 2]?.text ?? '');
};

/** And not because all around it is. */
function isInCapitals(tokens: readonly Token[], at: number): boolean {
  const hasSmall = (token: Token | undefined) => token?.raw !== token?.raw.toUpperCase();
  return !hasSmall(tokens[at]) && (hasSmall(tokens[at - 1]) || hasSmall(tokens[at + 1]));
}

/** "Do I need it" against "I need it". Could and would are politeness, "do not" is no question. */
function asksYesOrNo(tokens: readonly Token[], at: number, token: Token): boolean {
  const before = tokens[at - 1];
  const isFirst = token.isOpening || (before !== undefined && GREETINGS.has(before.text));
  return isFirst && tokens[at + 1]?.text !== 'not';
}

/** A capital, or a letter that stands alone (option b). */
function isName(token: Token): boolean {
  if (token.text.length === 1)
    return token.text !== 'a' && token.text !== 'i'
      ? true
      : isCapital(token) && !token.isOpening && token.text === 'a';
  return isCapital(token);
}

/** What a word means beside its neighbours. @returns the token to go on with, or 0: read on */
function readMeaning(
  tokens: readonly Token[],
  at: number,
  token: Token,
  entry: WordEntry,
  facts: TextFacts,
): number {
  const before = tokens[at - 1];
  const after = token.isClosing ? undefined : tokens[at + 1];
  if (entry.number !== undefined || entry.scale !== undefined)
    return readNumberWord(tokens, at, token, entry, facts);
  if (entry.ordinal !== undefined) readOrdinal(tokens, at, token, entry.ordinal, facts);
  if (entry.isNegator) readNegation(tokens, at, token, facts);
  else if (token.text === 'from') {
    facts.hasDirection = true;
    addSign(facts.signs, 'direction', 'from', false);
    facts.from.push(objectOf(tokens, at));
  } else if (token.text === 'to') {
    facts.to.push(objectOf(tokens, at));
    readTo(after, facts);
  } else if (entry.isDirection) facts.hasDirection = true;
  const particle = PARTICLES.get(token.text);
  if (particle !== undefined) {
    if (before?.kind === 'word' && particle.verbs.has(before.text))
      addSign(facts.signs, particle.axis, particle.value, false);
    else if (token.text === 'on') addSign(facts.signs, 'switch', 'on', token.isClosing === false);
  }
  if (entry.date !== undefined) return readDate(tokens, at, token, entry, facts);
  if (entry.unit !== undefined && token.text.length > 1 && before?.kind === 'word') {
    if (RATES.has(before.text)) facts.values.push({ key: `per:${entry.unit}`, isDate: true });
    else if (THIS_OR_NEXT.has(before.text)) facts.values.push({ key: `the:${entry.unit}`, isDate: true });
  }
  return 0;
}

/** The word a preposition is about, past its article. */
function objectOf(tokens: readonly Token[], at: number): string {
  const next = tokens[at + 1];
  const object = next !== undefined && DETERMINERS.has(next.text) ? tokens[at + 2] : next;
  return object === undefined ? '' : singular(object.text);
}

/** `to` before a verb is grammar; before a thing it is a direction. */
function readTo(after: Token | undefined, facts: TextFacts): void {
  if (!isThing(after)) return;
  facts.hasDirection = true;
  addSign(facts.signs, 'direction', 'to', false);
}

const isThing = (token: Token | undefined): boolean =>
  token !== undefined &&
  (token.kind === 'number' ||
    (token.kind === 'word' &&
      (DETERMINERS.has(token.text) || isCapital(token) || lookUp(token.text)?.isName === true)));

function readNegation(tokens: readonly Token[], at: number, token: Token, facts: TextFacts): void {
  const after = tokens[at + 1];
  // No. 5
  if (token.text === 'no' && after?.kind === 'number') return;
  if (after !== undefined && !token.isClosing && NO_NEGATION_BEFORE.has(after.text)) return;
  const before = tokens[at - 1]?.text;
  // "or not", "why don't you"
  if (token.text === 'not' && before === 'or') return;
  if (
    before === 'do' &&
    tokens[at - 2]?.text === 'why' &&
    (after?.text === 'you' || after?.text === 'we') &&
    token.text === 'not'
  )
    return;
  facts.negationCount += 1;
  for (let ahead = at + 1; ahead < tokens.length && ahead < at + 6; ahead += 1) {
    const next = tokens[ahead] as Token;
    if (next.kind === 'word' && lookUp(next.text)?.isStop) continue;
    facts.negated.push(next.kind === 'han' ? next.text.slice(0, 2) : singular(next.text));
    return;
  }
}
