/** A run of Chinese text: numerals, negations, names and opposites, then its characters as content. */
import { phraseAt } from './han-phrases.js';
import { addSign, addWord, type TextFacts, type Token } from './text-facts.js';

const DIGITS: Readonly<Record<string, number>> = {
  零: 0,
  〇: 0,
  一: 1,
  二: 2,
  两: 2,
  兩: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
};
const SCALES: Readonly<Record<string, number>> = {
  十: 10,
  百: 100,
  千: 1_000,
  万: 10_000,
  萬: 10_000,
  亿: 1e8,
};

/** Canonical units, longest first. */
const UNITS: readonly (readonly [string, string])[] = [
  ['毫秒', 'ms'],
  ['分钟', 'min'],
  ['小时', 'h'],
  ['星期', 'w'],
  ['个月', 'mo'],
  ['美元', '$'],
  ['欧元', '€'],
  ['公里', 'km'],
  ['公斤', 'kg'],
  ['秒', 's'],
  ['天', 'd'],
  ['周', 'w'],
  ['年', 'y'],
  ['元', '元'],
  ['块', '元'],
  ['米', 'm'],
  ['度', '°'],
];

/** The unit a run of Han characters starts with, "" for none. */
export function hanUnitAt(text: string, at: number): readonly [word: string, unit: string] | undefined {
  return UNITS.find(([word]) => text.startsWith(word, at));
}

/** @returns the value of a numeral and where it ends */
function numeralAt(text: string, from: number): { value: number; end: number } | null {
  let total = 0;
  let section = 0;
  let digit: number | null = null;
  let positional = '';
  let hasScale = false;
  let at = from;
  for (; at < text.length; at += 1) {
    const char = text.charAt(at);
    const one = DIGITS[char];
    const scale = SCALES[char];
    if (one !== undefined) {
      digit = one;
      positional += String(one);
    } else if (scale !== undefined) {
      hasScale = true;
      if (scale >= 10_000) {
        total = (total + section + (digit ?? (section === 0 && total === 0 ? 1 : 0))) * scale;
        section = 0;
      } else section += (digit ?? 1) * scale;
      digit = null;
    } else break;
  }
  if (at === from) return null;
  return { value: hasScale ? total + section + (digit ?? 0) : Number(positional), end: at };
}

/** 能不能, 有没有: a question, no negation. */
const isQuestion = (text: string, at: number): boolean =>
  at > 0 && text.charAt(at - 1) === text.charAt(at + 1) && '不没沒'.includes(text.charAt(at));

/** 一 is an article more often than a number, unless it counts places. */
function putNumeral(
  text: string,
  from: number,
  read: { value: number; end: number },
  facts: TextFacts,
): number {
  const before = text.charAt(from - 1);
  if (
    read.value === 1 &&
    read.end === from + 1 &&
    before !== '第' &&
    !'月号'.includes(text.charAt(read.end) || ' ')
  ) {
    facts.softOnes += 1;
    return read.end;
  }
  const unit = hanUnitAt(text, read.end);
  const isMonth = text.startsWith('月', read.end);
  const isPercent = text.startsWith('百分之', from - 3);
  facts.values.push({
    key: `${read.value}${isPercent ? '%' : isMonth ? '月' : (unit?.[1] ?? '')}`,
    isDate: isMonth,
  });
  return read.end + (unit?.[0].length ?? 0);
}

/** @param skip characters at its start that were the unit of the number before it */
export function readHan(token: Token, skip: number, facts: TextFacts): void {
  const { text } = token;
  // 英文 and 英语 are one language: see the key of a name below.
  const content = (from: number, to: number): void => {
    for (const char of text.slice(from, to)) facts.content.push(char);
  };
  let at = skip;
  content(0, skip);
  while (at < text.length) {
    const found = phraseAt(text, at);
    if (found === undefined || (found[1].kind === 'sign' && found[1].axis === 'sequence')) {
      if (found !== undefined && found[1].kind === 'sign')
        addSign(facts.signs, found[1].axis, found[1].value, false);
      const numeral = numeralAt(text, at);
      const width = text.charCodeAt(at) >= 0xd800 && text.charCodeAt(at) < 0xdc00 ? 2 : 1;
      const end = numeral === null ? at + width : putNumeral(text, at, numeral, facts);
      content(at, end);
      at = end;
      continue;
    }
    const [phrase, meaning] = found;
    // 十分 is "very", 十分钟 ten minutes; 百分之十 ten percent.
    if (phrase === '十分' && text.startsWith('十分钟', at)) {
      const numeral = numeralAt(text, at);
      const end = numeral === null ? at + 1 : putNumeral(text, at, numeral, facts);
      content(at, end);
      at = end;
      continue;
    }
    const end = at + phrase.length;
    if (meaning.kind === 'negator') {
      if (!isQuestion(text, at)) {
        facts.negationCount += 1;
        facts.negated.push(text.slice(end, end + 2));
      }
    } else if (meaning.kind === 'sign') {
      addSign(facts.signs, meaning.axis, meaning.value, meaning.value === 'seen');
    } else if (meaning.kind === 'name') {
      const key = phrase.replace(/文$/, '语');
      facts.names.push({ key, isOpening: false });
      addWord(facts, key);
    } else if (meaning.kind === 'date') facts.values.push({ key: meaning.date, isDate: true });
    else if (meaning.kind === 'direction') facts.hasDirection = true;
    if (meaning.kind !== 'stop') content(at, end);
    at = end;
  }
}
