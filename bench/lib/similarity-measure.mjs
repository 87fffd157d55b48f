/** What an embedder with and without the vetoes makes of pairs, of questions that are asked again, and of swaps. */
import { decideVeto } from '#domain/text-likeness';
import { swapKinds } from './similarity-swaps.mjs';

/** @import { TextVeto } from '#contracts' */
/** @typedef {import('./similarity-embedders.mjs').Measured} Measured */
/** @typedef {import('./similarity-pairs.mjs').Pair} Pair */
/** @typedef {import('./similarity-pairs.mjs').Question} Question */
/** @typedef {import('./similarity-swaps.mjs').Swap} Swap */
/** @typedef {'none' | 'vetoes' | 'strict' | 'answer'} Guard `answer`: strict, and for an answer that is to do for both */
/** @typedef {{ same: boolean, cosine: number, veto: Record<Guard, TextVeto | null> }} Judged */

/** What a loop may be held to, and what the cache. */
export const loopGuards = /** @type {const} */ (['none', 'vetoes', 'strict']);
export const cacheGuards = /** @type {const} */ (['none', 'vetoes', 'answer']);
/** @type {Record<Guard, string>} */
export const guardTitles = {
  none: 'cosine alone',
  vetoes: 'with vetoes',
  strict: 'with vetoes and strict gate',
  answer: 'with vetoes and the gate of the cache',
};

/** @param {string} one @param {string} other @returns {Judged['veto']} */
const vetoesOf = (one, other) => ({
  none: null,
  vetoes: decideVeto(one, other, { strict: false }),
  strict: decideVeto(one, other, { strict: true }),
  answer: decideVeto(one, other, { strict: true, oneAnswer: true }),
});

/** @param {Measured} embedder @param {Pair[]} pairs @returns {Judged[]} */
export const judge = (embedder, pairs) =>
  pairs.map(({ one, other, same }) => ({
    same,
    cosine: embedder.cosine(one, other),
    veto: vetoesOf(one, other),
  }));

/**
 * @param {Judged[]} judged
 * @param {Guard} guard
 * @param {number} cosineMin
 * @returns {{ recall: number, falseAlarms: number }} shares of the same and of the different pairs
 */
export function ratesAt(judged, guard, cosineMin) {
  const tally = { same: 0, found: 0, different: 0, wrong: 0 };
  for (const pair of judged) {
    const { same } = pair;
    const isTaken = isServed(pair, guard, cosineMin);
    if (same) tally.same += 1;
    else tally.different += 1;
    if (isTaken && same) tally.found += 1;
    else if (isTaken) tally.wrong += 1;
  }
  return { recall: tally.found / tally.same, falseAlarms: tally.wrong / tally.different };
}

/** @typedef {{ cosineMin: number, recall: number, falseAlarms: number, precision: number }} CurvePoint */

/**
 * Every set weighs the same, and within it the same pairs as much as the different ones.
 *
 * @param {Judged[][]} sets
 * @param {Guard} guard
 * @param {number} cosineMin
 * @returns {CurvePoint}
 */
export function pointAt(sets, guard, cosineMin) {
  const rates = sets.map((set) => ratesAt(set, guard, cosineMin));
  const mean = (/** @type {(rate: typeof rates[number]) => number} */ read) =>
    rates.reduce((sum, rate) => sum + read(rate), 0) / rates.length;
  const [recall, falseAlarms] = [mean((rate) => rate.recall), mean((rate) => rate.falseAlarms)];
  return { cosineMin, recall, falseAlarms, precision: recall / (recall + falseAlarms) };
}

/** @typedef {{ asked: number, hits: number, wrong: number }} HitCount */

/**
 * Every second question is in the cache; the others are asked. What is served is the nearest one that no veto
 * refuses; it is right when it has the same intent.
 *
 * @param {Measured} embedder
 * @param {Question[]} questions
 * @param {number[]} cosines thresholds
 * @returns {Record<Guard, HitCount[]>} one for each threshold
 */
export function askAgain(embedder, questions, cosines) {
  const floor = Math.min(...cosines);
  const stored = questions.filter((_, at) => at % 2 === 0);
  const asked = questions.filter((_, at) => at % 2 === 1);
  const counts = /** @type {Record<Guard, HitCount[]>} */ ({});
  for (const guard of cacheGuards)
    counts[guard] = cosines.map(() => ({ asked: asked.length, hits: 0, wrong: 0 }));
  for (const question of asked) {
    const near = stored
      .map((candidate) => ({ candidate, cosine: embedder.cosine(question.text, candidate.text) }))
      .filter(({ cosine }) => cosine >= floor)
      .sort((one, other) => other.cosine - one.cosine);
    const vetoed = near.map(({ candidate }) => vetoesOf(candidate.text, question.text));
    for (const guard of cacheGuards) {
      const best = near[vetoed.findIndex((veto) => veto[guard] === null)];
      if (!best) continue;
      for (const [at, count] of counts[guard].entries()) {
        if (best.cosine < /** @type {number} */ (cosines[at])) continue;
        count.hits += 1;
        if (best.candidate.intent !== question.intent) count.wrong += 1;
      }
    }
  }
  return counts;
}

/** @typedef {Swap & Judged} JudgedSwap `same`: harmlessly reworded */

/** @param {Measured} embedder @param {Swap[]} swaps @returns {JudgedSwap[]} */
export const judgeSwaps = (embedder, swaps) =>
  swaps.map((swap) => ({
    ...swap,
    same: swap.kind === 'reworded',
    cosine: embedder.cosine(swap.one, swap.other),
    veto: vetoesOf(swap.one, swap.other),
  }));

/** @param {Judged} judged @param {Guard} guard @param {number} cosineMin */
export const isServed = ({ cosine, veto }, guard, cosineMin) => cosine >= cosineMin && veto[guard] === null;

/**
 * @param {JudgedSwap[]} swaps
 * @param {Guard} guard
 * @param {number} cosineMin
 * @returns {Record<Swap['kind'], { asked: number, served: number }>}
 */
export function serveSwaps(swaps, guard, cosineMin) {
  const tally = () => ({ asked: 0, served: 0 });
  const counts = /** @type {Record<Swap['kind'], ReturnType<typeof tally>>} */ ({});
  for (const kind of swapKinds) counts[kind] = tally();
  for (const swap of swaps) {
    counts[swap.kind].asked += 1;
    if (isServed(swap, guard, cosineMin)) counts[swap.kind].served += 1;
  }
  return counts;
}
