/** What is read of one text before it is compared with another. Everything in the order of the text. */

/** A piece of text between spaces and punctuation, with what its surroundings say about it. */
export interface Token {
  kind: 'word' | 'number' | 'han' | 'literal';
  /** Lower case; of a literal, the key it is compared by. */
  text: string;
  /** As written. */
  raw: string;
  /** A capital letter here means nothing: a sentence starts. */
  isOpening: boolean;
  /** Punctuation, a line break or the end comes next. */
  isClosing: boolean;
  /** A number's unit (`s`, `%`, `$`), "" for none; its digits are in `text`. */
  unit: string;
}

/** A number, a date or an id, in canonical spelling: `4821`, `30s`, `10%`, `m11-21`, `abc-123`. */
export interface Value {
  key: string;
  isDate: boolean;
}

/** Where a text stands on one axis of opposites: first appearances of its values, joined (`on off`). */
export interface AxisSigns {
  strong: string;
  /** Words that only count against the strong words of another text (`on` as a plain preposition). */
  weak: string;
}

export interface CapitalWord {
  key: string;
  isOpening: boolean;
}

/** How things stand to each other, what may and what must be, and when. */
export interface Roles {
  places: string[];
  /** Auxiliaries: what may and what must be, when, and whether it does or is done. */
  verbs: string[];
  pointers: string[];
}

export interface TextFacts {
  /** After Unicode normalisation. */
  text: string;
  values: Value[];
  /** `one` and 一 where they may as well be an article: they explain a `1` of the other text, or nothing. */
  softOnes: number;
  negationCount: number;
  /** The word each negation stands before. */
  negated: string[];
  signs: Map<string, AxisSigns>;
  quotes: string[];
  /** Case is kept only of what was marked as code. */
  code: string[];
  /** Capitalised words and known names. */
  names: CapitalWord[];
  /** Every word, and without its plural. For `hasWord`. */
  words: string[] | Set<string>;
  /** The tokens that are words, for their capitals. */
  spelled: Token[];
  /** Words with something like a negative prefix: undo, disable. */
  prefixed: string[];
  /** What is compared word by word: no articles, auxiliaries or politeness; Han characters one by one. */
  content: string[];
  /** Words that are only sometimes content, where they are, and `?` for a question of yes or no; each behind its place in `content`. */
  light: string[];
  /** Who is spoken of, as `i`, `me`, `you`, `they`, `them` and `it`. He and she are words of content. */
  persons: string[];
  /** What words without content say, in order. */
  roles: Roles;
  /** What stands behind `from` and `to`. */
  from: string[];
  to: string[];
  /** `from`, `to`, `than`, 从, 到: the order of words says who does what to whom. */
  hasDirection: boolean;
}

export const emptyFacts = (text: string): TextFacts => ({
  text,
  values: [],
  softOnes: 0,
  negationCount: 0,
  negated: [],
  signs: new Map(),
  quotes: [],
  code: [],
  names: [],
  words: [],
  spelled: [],
  prefixed: [],
  content: [],
  light: [],
  persons: [],
  roles: { places: [], verbs: [], pointers: [] },
  from: [],
  to: [],
  hasDirection: false,
});

/** @param value one of the axis, without a space in it */
export function addSign(signs: TextFacts['signs'], axis: string, value: string, isWeak: boolean): void {
  let entry = signs.get(axis);
  if (entry === undefined) {
    entry = { strong: '', weak: '' };
    signs.set(axis, entry);
  }
  const list = isWeak ? entry.weak : entry.strong;
  if (` ${list} `.includes(` ${value} `)) return;
  const joined = list === '' ? value : `${list} ${value}`;
  if (isWeak) entry.weak = joined;
  else entry.strong = joined;
}

/** The set is made when it is first asked for: most texts are not. */
export function hasWord(facts: TextFacts, word: string): boolean {
  if (Array.isArray(facts.words)) facts.words = new Set(facts.words);
  return facts.words.has(word);
}

export function addWord(facts: TextFacts, word: string): void {
  if (Array.isArray(facts.words)) facts.words.push(word);
  else facts.words.add(word);
}

export function isCapital({ raw }: Token): boolean {
  const first = raw.charCodeAt(0);
  if (first < 128) return first >= 65 && first <= 90;
  const char = raw.charAt(0);
  return char !== char.toLowerCase();
}
