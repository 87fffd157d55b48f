/**
 * Real sentences changed by rule: so that they ask for something else (another number, a "not" more or less, another
 * name, another auxiliary, another degree, a condition more), or so that they do not (case, punctuation, politeness). The rules do not use the lists of the vetoes: names
 * are exchanged by where they stand, and a Chinese sentence by a list of its own.
 */
import { bankingQuestions, clincQuestions, stsSentences } from './similarity-pairs.mjs';

/** Of all but the first another answer is due. */
export const swapKinds = /** @type {const} */ ([
  'reworded',
  'number',
  'negation',
  'entity',
  'modal',
  'degree',
  'addition',
]);

/** @typedef {typeof swapKinds[number]} SwapKind */
/** @typedef {{ kind: SwapKind, one: string, other: string }} Swap */

const numberWords = [
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'twelve',
  'twenty',
];
const hanNumbers = ['两', '三', '四', '五', '六', '七', '八', '九', '十'];
const auxiliary = /\b(is|are|was|were|can|could|do|does|did|will|would|should|has|have)\b(?! not|n't)/i;
const negated =
  /\b(is|are|was|were|could|do|does|did|would|should|has|have)(?: not|n't|nt)\b|\b(can)(?:not| not|'t)\b/i;
/** Not "could you", "how can I" and "I would like", which are ways to ask. */
const exchangeable =
  /(?<!\bhow (?=[a-z]+ (?:i|we|you)\b))(?:\b(?:is|are|was|were|do|does|did|must|should|might)\b|\b(?:can|could|will|would)\b(?! (?:you|u|like|love)\b))(?! not|n't)/i;
const kindOf = /** @type {Record<string, string>} */ ({ could: 'can', shall: 'should' });
const modals = ['can', 'must', 'should', 'might', 'will', 'would'];
const otherTime = /** @type {Record<string, string>} */ ({
  is: 'was',
  are: 'were',
  was: 'is',
  were: 'are',
  did: 'do',
});
const gradable =
  /\b(?:(?:a|the|is|are|was|were) )(high|low|hot|cold|long|short|big|small|large|good|bad|old|new|late|early|fast|slow|cheap|expensive|easy|hard|safe|important|young|far|near|full|heavy|strong|weak)\b/i;
const intensifiers = ['too', 'very', 'so', 'really'];
const pointers = /** @type {Record<string, string>} */ ({
  these: 'those',
  those: 'these',
  here: 'there',
});
const conditions = [
  'under water',
  'while driving',
  'if married',
  'since childhood',
  'before breakfast',
  'made abroad',
];
const hanNames = [
  '中国',
  '美国',
  '俄罗斯',
  '叙利亚',
  '以色列',
  '伊朗',
  '埃及',
  '印度',
  '巴基斯坦',
  '乌克兰',
  '朝鲜',
  '韩国',
  '日本',
  '法国',
  '德国',
  '英国',
  '利比亚',
  '伊拉克',
  '阿富汗',
  '泰国',
];

/** The same for the same text. @param {string} text @param {number} count */
function pick(text, count) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash % count;
}

/** @template T @param {readonly T[]} list @param {T} own @param {string} text @returns {T} another one */
function another(list, own, text) {
  const others = list.filter((one) => one !== own);
  return /** @type {T} */ (others[pick(text, others.length)]);
}

/** @param {string} text @returns {string | null} null: there is no number in it */
function swapNumber(text) {
  const digits = /\d+/.exec(text);
  if (digits) {
    const other = String(Number(digits[0]) + 1 + pick(text, 8));
    return text.slice(0, digits.index) + other + text.slice(digits.index + digits[0].length);
  }
  const word = new RegExp(`\\b(?:${numberWords.join('|')})\\b`, 'i').exec(text);
  if (word) return text.replace(word[0], another(numberWords, word[0].toLowerCase(), text));
  const han = /[两三四五六七八九](?=[个只条名位人天年月岁次辆架张座支匹头])/.exec(text);
  return han ? text.replace(han[0], another(hanNumbers, han[0], text)) : null;
}

/** @param {string} text @returns {string | null} */
function swapNegation(text) {
  if (negated.test(text)) return text.replace(negated, (_all, verb, can) => verb ?? can);
  if (auxiliary.test(text)) {
    const isShort = pick(text, 2) === 0;
    return text.replace(auxiliary, (verb) => {
      if (!isShort) return `${verb} not`;
      if (/^can$/i.test(verb)) return `${verb}'t`;
      return /^will$/i.test(verb) ? "won't" : `${verb}n't`;
    });
  }
  if (/没有|不/.test(text)) return text.replace(/没有|不(?=[是能会要])/, '').replace(/^\s+/, '') || null;
  const han = /[正]?在(?=[\u4e00-\u9fff])|是|能|会|要/.exec(text);
  return han
    ? `${text.slice(0, han.index)}${han[0].includes('在') ? '没' : '不'}${text.slice(han.index)}`
    : null;
}

/** No names, wherever they stand. */
const functionWords =
  /^(?:have|has|the|this|that|these|those|them|him|her|you|your|me|my|mine|our|us|it|its|own|all|any|day|once|yet|here|there|now|then|time|do|use|get|be|go)$/i;
const slot = /\b(?:in|to|from|for|of|on|at)\s+(?:the\s+|a\s+|an\s+|my\s+)?([a-z]{3,})\??$/i;
const wordOfAName = /(?<=[a-z,] )([A-Z][a-z]{2,})\b/;

/**
 * @param {string} text
 * @param {readonly string[]} fillers what stands in the same place in sentences like it
 * @returns {string | null}
 */
function swapEntity(text, fillers) {
  const route = /\bfrom ((?:the |my |an? )?[a-z]+) to ((?:the |my |an? )?[a-z]+)\b/i.exec(text);
  if (route && ![route[1], route[2]].some((end) => functionWords.test(end ?? '')))
    return text.replace(route[0], `from ${route[2]} to ${route[1]}`);
  const han = hanNames.find((name) => text.includes(name));
  if (han) return text.replace(han, another(hanNames, han, text));
  const found = slot.exec(text)?.[1] ?? wordOfAName.exec(text)?.[1];
  if (!found || functionWords.test(found)) return null;
  const stemOf = (/** @type {string} */ word) => word.toLowerCase().replace(/(?:e?s)$/, '');
  const others = fillers.filter((one) => stemOf(one) !== stemOf(found) && !functionWords.test(one));
  if (others.length === 0) return null;
  const other = another(others, found, text);
  const at = text.lastIndexOf(found);
  return text.slice(0, at) + other + text.slice(at + found.length);
}

/** Another auxiliary, of another kind or time. @param {string} text @returns {string | null} */
function swapModal(text) {
  const found = exchangeable.exec(text)?.[0];
  if (!found) return null;
  const own = found.toLowerCase();
  const others = modals.filter((one) => one !== (kindOf[own] ?? own));
  if (/^do(?:es)?$/.test(own)) others.push('did');
  return text.replace(exchangeable, likeIn(found, otherTime[own] ?? another(others, own, text)));
}

/** @param {string} found @param {string} other @returns {string} with a capital where that had one */
const likeIn = (found, other) =>
  /^[A-Z]/.test(found) ? other.charAt(0).toUpperCase() + other.slice(1) : other;

/** How much, and which of them. @param {string} text @returns {string | null} */
function swapDegree(text) {
  const found = gradable.exec(text);
  if (found?.[1]) {
    const grade = intensifiers[pick(text, intensifiers.length)];
    return text.replace(found[0], found[0].replace(found[1], `${grade} ${found[1]}`));
  }
  if (/\ba few\b/i.test(text)) return text.replace(/\ba few\b/i, 'few');
  return /\b(?:these|those)\b|\bhere\b(?=[^a-z]*$)/i.test(text)
    ? text.replace(/\b(?:these|those|here)\b/i, (word) => likeIn(word, pointers[word.toLowerCase()] ?? word))
    : null;
}

/** A condition more, at the end. @param {string} text @returns {string | null} */
function swapAddition(text) {
  if (isHan(text)) return null;
  const mark = /[.?!\s]*$/.exec(text)?.[0] ?? '';
  return `${text.slice(0, text.length - mark.length)} ${conditions[pick(text, conditions.length)]}${mark}`;
}

const isHan = (/** @type {string} */ text) => /[\u4e00-\u9fff]/.test(text);

/** @param {string} text @returns {string} asks for the same */
function reword(text) {
  const plain = text.replace(/[.?!。？！]+$/, '');
  if (isHan(text)) {
    const ways = [`请${plain}。`, `${plain}，谢谢。`, `${plain}？`, `你好，${plain}`];
    return ways[pick(text, ways.length)] ?? plain;
  }
  const ways = [
    `please ${plain}`,
    `${plain}, please?`,
    `Hi, ${plain}.`,
    `${plain}, thanks!`,
    plain.charAt(0).toUpperCase() + plain.slice(1).concat(text === plain ? '?' : ''),
    plain
      .replace(/\b(what|that|it|where|how|who)'s\b/gi, '$1 is')
      .replace(/n't\b/g, ' not')
      .concat(' thank you'),
  ];
  return ways[pick(text, ways.length)] ?? plain;
}

/** @param {string[]} texts @param {(text: string) => string | undefined} read @returns {string[]} */
const fillersOf = (texts, read) => [...new Set(texts.map(read).filter((one) => one !== undefined))];

/** @param {string[]} texts @param {readonly string[]} fillers @returns {Swap[]} */
function swapsOf(texts, fillers) {
  return texts.flatMap((text) => {
    /** @type {[SwapKind, string | null][]} */
    const made = [
      ['reworded', reword(text)],
      ['number', swapNumber(text)],
      ['negation', swapNegation(text)],
      ['entity', swapEntity(text, fillers)],
      ['modal', swapModal(text)],
      ['degree', swapDegree(text)],
      ['addition', swapAddition(text)],
    ];
    return made.flatMap(([kind, other]) =>
      other === null || other === text ? [] : [{ kind, one: text, other }],
    );
  });
}

/** @returns {Record<string, Swap[]>} by data set */
export function allSwaps() {
  /** @type {Record<string, Swap[]>} */
  const sets = {};
  for (const [name, questions] of /** @type {const} */ ([
    ['CLINC150', clincQuestions()],
    ['BANKING77', bankingQuestions()],
  ])) {
    /** @type {Map<string, string[]>} */
    const byIntent = new Map();
    for (const { text, intent } of questions) byIntent.set(intent, [...(byIntent.get(intent) ?? []), text]);
    sets[name] = [...byIntent.values()].flatMap((texts) =>
      swapsOf(
        texts,
        fillersOf(texts, (text) => slot.exec(text)?.[1]),
      ),
    );
  }
  for (const language of /** @type {const} */ (['en', 'zh'])) {
    const texts = stsSentences(language);
    sets[`STS-B ${language}`] = swapsOf(
      texts,
      fillersOf(texts, (text) => wordOfAName.exec(text)?.[1]),
    );
  }
  return sets;
}
