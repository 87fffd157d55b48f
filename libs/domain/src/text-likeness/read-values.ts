/** Numbers, dates and times of a text, from digits and from words, each with the unit or the month beside it. */
import { lookUp, type WordEntry } from './lexicon.js';
import { hanUnitAt, readHan } from './read-han.js';
import { spelledUnit } from './read-number.js';
import { isCapital, type TextFacts, type Token } from './text-facts.js';

/** Nouns behind which `one` is a number: page one. */
const COUNTED = new Set(
  'page chapter step part section version level phase option number item line column row day week season episode volume question task figure table'.split(
    ' ',
  ),
);
const HOURS = /^(?:[1-9]|1[0-2])$/;
/** Behind these a unit is a rate: per second. */
export const RATES: ReadonlySet<string> = new Set(['per', 'every', 'each']);

const isProperCapital = (token: Token): boolean => isCapital(token) && !token.isOpening;

/** @returns the token to go on with */
export function readNumberToken(
  tokens: readonly Token[],
  at: number,
  token: Token,
  facts: TextFacts,
): number {
  let { text: digits, unit } = token;
  let next = at + 1;
  let follower = token.isClosing ? undefined : tokens[next];
  const scale = follower?.kind === 'word' ? lookUp(follower.text)?.scale : undefined;
  if (scale !== undefined && unit !== '%') {
    digits = String(Number(digits) * scale);
    next += 1;
    follower = tokens[next - 1]?.isClosing ? undefined : tokens[next];
  }
  if (follower?.kind === 'han') return readHanUnit(digits, unit, follower, next, facts);
  if (follower?.kind === 'word' && unit === '') {
    if ((follower.text === 'am' || follower.text === 'pm') && HOURS.test(digits))
      return putValue(facts, `${digits}${follower.text}`, true, next + 1);
    const month = monthOf(follower, true) ?? monthAfterOf(tokens, next);
    if (month !== undefined && Number(digits) <= 31) {
      const skip = follower.text === 'of' ? 2 : 1;
      return putValue(facts, `${month}-${digits}`, true, next + skip);
    }
    const spelled = spelledUnit(follower.raw);
    const known = spelled === follower.text ? lookUp(spelled)?.unit : spelled;
    if (known !== undefined && (follower.raw.length > 1 || known !== 's'))
      return putValue(facts, digits + known, false, next + 1);
  }
  const isYear = unit === '' && /^(?:19|20)\d\d$/.test(digits);
  return putValue(facts, digits + unit, isYear, next);
}

function putValue(facts: TextFacts, key: string, isDate: boolean, next: number): number {
  facts.values.push({ key, isDate });
  facts.content.push(key);
  return next;
}

/** 30 秒, 3 月 */
function readHanUnit(digits: string, unit: string, han: Token, at: number, facts: TextFacts): number {
  const found = unit === '' ? hanUnitAt(han.text, 0) : undefined;
  const isMonth = han.text.startsWith('月');
  putValue(facts, digits + (isMonth ? '月' : (found?.[1] ?? unit)), isMonth || found?.[1] === 'y', at);
  readHan(han, found?.[0].length ?? 0, facts);
  return at + 1;
}

function monthOf(token: Token | undefined, isBesideNumber: boolean): string | undefined {
  if (token?.kind !== 'word') return undefined;
  const entry = lookUp(token.text);
  if (entry?.date === undefined || entry.date.charCodeAt(0) !== 109 || !/^m\d\d$/.test(entry.date))
    return undefined;
  return entry.isDoubtfulDate && !isBesideNumber && !isProperCapital(token) ? undefined : entry.date;
}

/** 21st of November */
const monthAfterOf = (tokens: readonly Token[], at: number): string | undefined =>
  tokens[at]?.text === 'of' ? monthOf(tokens[at + 1], false) : undefined;

/** second, third; 21st is an id */
export function readOrdinal(
  tokens: readonly Token[],
  at: number,
  token: Token,
  ordinal: number,
  facts: TextFacts,
): void {
  // "First, list the files": the order of the talk, not of the files.
  if (token.isOpening && token.isClosing) return;
  const before = tokens[at - 1];
  if (token.text === 'second' && (before?.text === 'a' || RATES.has(before?.text ?? ''))) return;
  const month = monthOf(tokens[at + 1], false) ?? monthAfterOf(tokens, at + 1);
  facts.values.push({
    key: month === undefined ? `#${ordinal}` : `${month}-${ordinal}`,
    isDate: month !== undefined,
  });
}

/** @returns the token to go on with, or 0: it is no date here */
export function readDate(
  tokens: readonly Token[],
  at: number,
  token: Token,
  entry: WordEntry,
  facts: TextFacts,
): number {
  const after = tokens[at + 1];
  const month = monthOf(token, after?.kind === 'number');
  if (month !== undefined) {
    const day = dayOf(token.isClosing ? undefined : after);
    const previous = facts.values.at(-1);
    if (day !== null) return putValue(facts, `${month}-${day}`, true, at + 2);
    if (previous?.key.startsWith(`${month}-`)) return at + 1;
    return putValue(facts, month, true, at + 1);
  }
  if (entry.isDoubtfulDate && !isProperCapital(token)) return 0;
  if (/^m\d\d$/.test(entry.date ?? '')) return 0;
  // good morning
  if (tokens[at - 1]?.text === 'good') return 0;
  return putValue(facts, entry.date ?? '', true, at + 1);
}

function dayOf(token: Token | undefined): number | null {
  if (token === undefined) return null;
  const digits =
    token.kind === 'number' ? token.text : token.unit === 'id' ? token.text.replace(/^#/, '') : '';
  const day = /^\d{1,2}$/.test(digits) ? Number(digits) : 0;
  return day >= 1 && day <= 31 ? day : null;
}

/** twenty-five, two hundred and fifty, three dozen. @returns the token to go on with, or 0: it is an article */
export function readNumberWord(
  tokens: readonly Token[],
  from: number,
  token: Token,
  entry: WordEntry,
  facts: TextFacts,
): number {
  if (entry.number === 1 && isArticle(tokens, from, token)) {
    facts.softOnes += 1;
    return 0;
  }
  let total = 0;
  let group = 0;
  let at = from;
  let last = -1;
  for (; at < tokens.length; at += 1) {
    const current = tokens[at] as Token;
    const meaning = current.kind === 'word' ? lookUp(current.text) : undefined;
    if (meaning?.number !== undefined) {
      // "three four" are two numbers, "twenty four" is one.
      if (last >= 0 && !(last >= 20 && meaning.number < 10) && last !== 100) break;
      group += meaning.number;
      last = meaning.number;
    } else if (meaning?.scale !== undefined) {
      if (meaning.scale === 100 || meaning.scale === 12) group = Math.max(1, group) * meaning.scale;
      else {
        total += Math.max(1, group) * meaning.scale;
        group = 0;
      }
      last = 100;
    } else if (current.text === 'and' && last === 100 && isNumberWord(tokens[at + 1])) continue;
    else break;
    if (current.isClosing) {
      at += 1;
      break;
    }
  }
  const end = tokens[at - 1] as Token;
  const number: Token = {
    ...token,
    kind: 'number',
    text: String(total + group),
    unit: '',
    isClosing: end.isClosing,
  };
  const rest = [number, ...tokens.slice(at, at + 3)];
  return at - 1 + readNumberToken(rest, 0, number, facts);
}

const isNumberWord = (token: Token | undefined): boolean =>
  token?.kind === 'word' && lookUp(token.text)?.number !== undefined;

/** `one` as an article or a pronoun; it is a number behind "page" and before other number words. */
function isArticle(tokens: readonly Token[], at: number, token: Token): boolean {
  const before = tokens[at - 1];
  if (before?.kind === 'word' && COUNTED.has(before.text)) return false;
  const after = token.isClosing ? undefined : tokens[at + 1];
  const meaning = after?.kind === 'word' ? lookUp(after.text) : undefined;
  return meaning?.scale === undefined && meaning?.unit === undefined;
}
