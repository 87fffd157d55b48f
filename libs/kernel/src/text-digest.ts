import { unitAt } from './unit-at.js';

/** Who looks for a text in vain mostly adds it next. */
let lastText = '';
let lastSeed = 0;
let lastDigest = digestOf(lastText, lastSeed);

/**
 * FNV-1a over a text's UTF-16 code units, its high bits folded into its low ones. No secret: equal texts have equal digests,
 * and who wants unequal ones to meet can make them.
 *
 * @returns 32 bits, signed
 */
export function textDigest(text: string, seed: number): number {
  if (seed !== lastSeed || text !== lastText) {
    lastDigest = digestOf(text, seed);
    lastText = text;
    lastSeed = seed;
  }
  return lastDigest;
}

function digestOf(text: string, seed: number): number {
  let digest = seed;
  const { length } = text;
  for (let at = 0; at < length; at += 1) digest = Math.imul(digest ^ unitAt(text, at), 0x01000193);
  return digest ^ (digest >>> 15);
}
