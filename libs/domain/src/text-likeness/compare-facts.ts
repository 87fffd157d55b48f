/** Numbers, dates, quotations, code and names of two texts, set against each other. */
import type { TextVeto } from '#contracts';
import { isAlphanumeric } from './char-classes.js';
import { hasWord, type TextFacts } from './text-facts.js';

/** Quotations, pieces of code or names that are sought, unmarked, in the other text; more or longer ones differ. */
const SOUGHT_MAX = 8;
const SOUGHT_CHARS_MAX = 128;

/** The same numbers and dates, as often, and each kind in the same order: "3 by Monday" may come as "by Monday, 3". */
export function differsInValues(one: TextFacts, other: TextFacts): TextVeto | null {
  if (one.values.length === 0 && other.values.length === 0) return null;
  const ones = onesToSpare(one, other);
  const [keys, otherKeys] = [keysOf(one, ones.here), keysOf(other, ones.there)];
  const dates = new Set<string>();
  for (const { key, isDate } of [...one.values, ...other.values]) if (isDate) dates.add(key);
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const key of otherKeys) counts.set(key, (counts.get(key) ?? 0) - 1);
  const odd = [...counts].filter(([, count]) => count !== 0);
  if (odd.length > 0) return odd.every(([key]) => dates.has(key)) ? 'dates' : 'numbers';
  const inOrder = (list: string[], isDate: boolean) =>
    list.filter((key) => dates.has(key) === isDate).join(' ');
  if (inOrder(keys, false) !== inOrder(otherKeys, false)) return 'numbers';
  return inOrder(keys, true) === inOrder(otherKeys, true) ? null : 'dates';
}

/** How many plain `1` of either text the word "one" of the other explains. */
function onesToSpare(one: TextFacts, other: TextFacts): { here: number; there: number } {
  const count = ({ values }: TextFacts) => values.reduce((sum, { key }) => sum + (key === '1' ? 1 : 0), 0);
  const surplus = count(one) - count(other);
  return {
    here: Math.min(Math.max(0, surplus), other.softOnes),
    there: Math.min(Math.max(0, -surplus), one.softOnes),
  };
}

function keysOf({ values }: TextFacts, onesLeftOut: number): string[] {
  let left = onesLeftOut;
  const keys: string[] = [];
  for (const { key } of values) {
    if (key === '1' && left > 0) left -= 1;
    else keys.push(key);
  }
  return keys;
}

/** Each must be in the other text, marked or not, and what both mark must come in the same order. */
export function differsInLiterals(one: TextFacts, other: TextFacts, kind: 'quotes' | 'code'): boolean {
  if (one[kind].length === 0 && other[kind].length === 0) return false;
  const [here, there] = [new Set(one[kind]), new Set(other[kind])];
  return isMissing(here, there, other) || isMissing(there, here, one) || isOtherOrder(here, there);
}

function isMissing(literals: ReadonlySet<string>, marked: ReadonlySet<string>, other: TextFacts): boolean {
  let sought = 0;
  let lower: string | null = null;
  for (const literal of literals) {
    if (marked.has(literal)) continue;
    sought += 1;
    if (sought > SOUGHT_MAX || literal.length > SOUGHT_CHARS_MAX) return true;
    const isExact = literal.startsWith('`');
    const plain = isExact ? literal.slice(1) : literal;
    lower ??= other.text.toLowerCase();
    if (!stands(plain, other.text) && (isExact || !stands(plain, lower))) return true;
  }
  return false;
}

/** It is in the text as a whole: no part of a longer name or path. */
function stands(literal: string, text: string): boolean {
  let at = text.indexOf(literal);
  for (let tries = 0; at >= 0 && tries < SOUGHT_MAX; tries += 1) {
    if (isBorder(text, at - 1, -1) && isBorder(text, at + literal.length, 1)) return true;
    at = text.indexOf(literal, at + 1);
  }
  return false;
}

function isBorder(text: string, at: number, step: -1 | 1): boolean {
  if (at < 0 || at >= text.length) return true;
  const code = text.charCodeAt(at);
  if (code > 0x2e80) return true;
  if (isAlphanumeric(code)) return false;
  if (!'._-/\\@:=+#'.includes(text.charAt(at))) return true;
  const next = at + step;
  return next < 0 || next >= text.length || !isAlphanumeric(text.charCodeAt(next));
}

function isOtherOrder(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((key) => other.has(key));
  let at = 0;
  for (const key of other) if (one.has(key) && shared[at++] !== key) return true;
  return false;
}

/** A name that the other text does not have in any spelling, or the same names in another order. */
export function contradictsNames(one: TextFacts, other: TextFacts): boolean {
  if (one.names.length === 0 && other.names.length === 0) return false;
  return (
    isNameMissing(one, other) ||
    isNameMissing(other, one) ||
    isOtherOrder(namesOf(one, other), namesOf(other, one))
  );
}

function isNameMissing(one: TextFacts, other: TextFacts): boolean {
  let sought = 0;
  for (const { key, isOpening } of one.names) {
    if (isOpening || hasWord(other, key)) continue;
    sought += 1;
    if (sought > SOUGHT_MAX || !isShortened(key, other)) return true;
  }
  return false;
}

/** Names in order; a capital at the start of a sentence is one if either text has it elsewhere. */
function namesOf(one: TextFacts, other: TextFacts): Set<string> {
  const sure = new Set<string>();
  for (const { key, isOpening } of [...one.names, ...other.names]) if (!isOpening) sure.add(key);
  const names = new Set<string>();
  for (const { key } of one.names) if (sure.has(key)) names.add(key);
  return names;
}

/** PR for "pull request": initials of words that stand together. */
function isShortened(key: string, { content }: TextFacts): boolean {
  if (key.length < 2 || key.length > 5) return false;
  return content
    .map((word) => word.charAt(0))
    .join('')
    .includes(key);
}
