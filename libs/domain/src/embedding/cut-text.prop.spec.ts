import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToEnds, cutToHead } from './cut-text.js';

const anyText = fc.string({ unit: 'binary', maxLength: 80, size: 'max' });
const bound = fc.integer({ min: 2, max: 60 });
const isWellFormed = (text: string) =>
  !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);

describe('a cut', () => {
  it('leaves a short text as it is', () => {
    expect(cutToHead('as it is', 8)).toBe('as it is');
    expect(cutToEnds('as it is', 8)).toBe('as it is');
  });

  it('keeps the head, or head and tail with a break between them', () => {
    expect(cutToHead('0123456789', 4)).toBe('0123');
    expect(cutToEnds('0123456789', 4)).toBe('01\n89');
  });

  it('never splits a character and keeps its bound', () => {
    fc.assert(
      fc.property(anyText, bound, (text, charsMax) => {
        const head = cutToHead(text, charsMax);
        expect(head.length).toBeLessThanOrEqual(charsMax);
        expect(text.startsWith(head)).toBe(true);
        expect(isWellFormed(head)).toBe(true);
        const ends = cutToEnds(text, charsMax);
        expect(ends.length).toBeLessThanOrEqual(charsMax + 1);
        expect(isWellFormed(ends)).toBe(true);
      }),
    );
  });
});
