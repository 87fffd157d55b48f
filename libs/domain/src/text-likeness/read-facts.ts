/** From the tokens of a text to what its comparison needs: words are read with their neighbours. */

import { asksYesOrNo, DETERMINERS, isIdle, isIdlePerson, isThing, roleOf } from './idle-words.js';
import { lookUp, singular, type WordEntry } from './lexicon.js';
import { NEGATIVE_PREFIX, PARTICLES } from './opposites.js';
import { readHan } from './read-han.js';
import { readText } from './read-text.js';
import { RATES, readDate, readNumberToken, readNumberWord, readOrdinal } from './read-values.js';
import { addSign, addWord, emptyFacts, isCapital, type TextFacts, type Token } from './text-facts.js';

/** Behind these a unit is a date: next week. */
const THIS_OR_NEXT = new Set(['this', 'next', 'last', 'previous', 'past', 'coming', 'current']);
const NO_NEGATION_BEFORE = new Set(['only', 'forget', 'hesitate', 'worry', 'problem', 'worries', 'rush']);

const AMOUNTS = new Set(['few', 'little']);
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
  if (entry.person !== undefined && !isIdlePerson(tokens, at)) facts.persons.push(entry.person);
  const role = entry.role === undefined ? null : roleOf(entry.role.value, tokens, at);
  if (entry.role !== undefined && role !== null) facts.roles[entry.role.kind].push(role);
  const next = readMeaning(tokens, at, token, entry, facts);
  if (next > 0) return next;
  const isStop = entry.isStop === true && (entry.idleAs === undefined || isIdle(entry.idleAs, tokens, at));
  if (!entry.isStop) facts.content.push(single);
  else if (!isStop || isArticleOfAmount(tokens, at) || isEntering(tokens, at))
    facts.light.push(lightWord(word, facts));
  else if (asksYesOrNo(tokens, at)) facts.light.push(lightWord(QUESTION, facts));
  const named = NAMED_IN_CAPITALS.get(word);
  if (named !== undefined && isInCapitals(tokens, at)) {
    facts.names.push({ key: named, isOpening: false });
    addWord(facts, named);
  }
  if (entry.isName || (!isStop && entry.date === undefined && isName(token)))
    facts.names.push({ key: single, isOpening: token.isOpening && !entry.isName });
  if (entry.signs !== undefined)
    for (const { axis, value, isWeak } of entry.signs) addSign(facts.signs, axis, value, isWeak);
  return at + 1;
}

/** With its place between the words of content. */
const lightWord = (word: string, { content }: TextFacts): string => `${content.length} ${word}`;

/** "A few" are some, "few" are hardly any. */
const isArticleOfAmount = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === 'a' && AMOUNTS.has(tokens[at + 1]?.text ?? '');

/** "Check in", "sign in": not the verb alone. */
const isEntering = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === 'in' && PARTICLES.get('in')?.verbs.has(tokens[at - 1]?.text ?? '') === true;

/** And not because all around it is. */
function isInCapitals(tokens: readonly Token[], at: number): boolean {
  const hasSmall = (token: Token | undefined) => token?.raw !== token?.raw.toUpperCase();
  return !hasSmall(tokens[at]) && (hasSmall(tokens[at - 1]) || hasSmall(tokens[at + 1]));
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
