/**
 * Pairs of texts whose truth is known: the same question in other words, or one that looks like it and is not. From
 * the shared data's development parts; BANKING77 has none, so its test part is taken (the bundled embedder was trained
 * on its other part).
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {{ one: string, other: string, same: boolean }} Pair */
/** @typedef {{ text: string, intent: string }} Question */

const repository = fileURLToPath(new URL('../..', import.meta.url));
const folder = resolve(process.env.OBSERVATORY_SHARED ?? resolve(repository, '../shared'), 'data/pairs');
const read = (/** @type {string} */ name) => readFileSync(resolve(folder, name), 'utf8');

/** STS-B: its judges gave 0..5; 5 is "completely equivalent", 2 to 3 share a topic or leave out what matters. */
const sameScoreMin = 4.5;
const nearMissScores = { min: 2, below: 3.5 };

/** @param {string} text @returns {string[][]} rows of a CSV with quoted fields */
function parseCsv(text) {
  /** @type {string[][]} */
  const rows = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\r?\n|$)/y;
  /** @type {string[]} */
  let row = [];
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (!match) throw new Error('a file of pairs is no CSV');
    row.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** @returns {Pair[]} 64 pairs made for agents, by hand */
export function agentPairs() {
  return read('agent_pairs.jsonl')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const { a, b, same } = JSON.parse(line);
      return { one: a, other: b, same: same === 1 };
    });
}

/** @param {'en' | 'zh'} language @returns {Pair[]} equal meaning, and near misses; what lies between is left out */
export function stsPairs(language) {
  return parseCsv(read(`stsb/stsb-${language}-dev.csv`)).flatMap(([one = '', other = '', score = '']) => {
    const points = Number(score);
    const same = points >= sameScoreMin;
    const isNear = points >= nearMissScores.min && points < nearMissScores.below;
    return same || isNear ? [{ one, other, same }] : [];
  });
}

/** @returns {Question[]} CLINC150, development part */
export const clincQuestions = () =>
  JSON.parse(read('clinc150/data_full.json')).val.map((/** @type {string[]} */ [text = '', intent = '']) => ({
    text,
    intent,
  }));

/** @returns {Question[]} BANKING77, test part */
export const bankingQuestions = () =>
  parseCsv(read('banking77/test.csv'))
    .slice(1)
    .map(([text = '', intent = '']) => ({ text, intent }));

/** @param {'en' | 'zh'} language @returns {string[]} each sentence once */
export const stsSentences = (language) => [
  ...new Set(
    parseCsv(read(`stsb/stsb-${language}-dev.csv`)).flatMap(([one = '', other = '']) => [one, other]),
  ),
];

/**
 * Questions of one intent two by two, and each of them with the nearest question of another intent.
 *
 * @param {Question[]} questions
 * @param {(at: number, among: number[]) => number} nearestOf index of the nearest of some questions
 * @returns {Pair[]}
 */
export function intentPairs(questions, nearestOf) {
  /** @type {Map<string, number[]>} */
  const byIntent = new Map();
  for (const [at, { intent }] of questions.entries())
    byIntent.set(intent, [...(byIntent.get(intent) ?? []), at]);
  const textAt = (/** @type {number} */ at) => questions[at]?.text ?? '';
  /** @type {Pair[]} */
  const pairs = [];
  for (const [intent, members] of byIntent) {
    const others = questions.flatMap((question, at) => (question.intent === intent ? [] : [at]));
    for (let at = 0; at + 1 < members.length; at += 2) {
      const [one = 0, other = 0] = members.slice(at, at + 2);
      pairs.push({ one: textAt(one), other: textAt(other), same: true });
      pairs.push({ one: textAt(one), other: textAt(nearestOf(one, others)), same: false });
    }
  }
  return pairs;
}
