import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeWordPieces, truncateWordPieces } from './word-pieces.js';

const CLS = 101;
const SEP = 102;
const UNK = 100;
const marked = (...ids: number[]) => [CLS, ...ids, SEP];
const words = (count: number) => Array.from({ length: count }, (_, at) => 1_000 + at);

describe('cutting word pieces', () => {
  it('leaves as many as the model takes', () => {
    expect(truncateWordPieces(marked(...words(254)), 256)).toEqual(marked(...words(254)));
  });

  it('drops the end of the text and keeps both marks', () => {
    expect(truncateWordPieces(marked(...words(255)), 256)).toEqual(marked(...words(254)));
    fc.assert(
      fc.property(fc.nat(2_000), fc.integer({ min: 2, max: 256 }), (count, tokensMax) => {
        const cut = truncateWordPieces(marked(...words(count)), tokensMax);
        expect(cut).toHaveLength(Math.min(count + 2, tokensMax));
        expect(cut[0]).toBe(CLS);
        expect(cut.at(-1)).toBe(SEP);
      }),
    );
  });
});

describe('judging word pieces', () => {
  it('calls a text of nothing but marks empty', () => {
    expect(judgeWordPieces(marked(), UNK)).toBe('empty');
  });

  it('is strict: one unknown token in ten is fit, more is not', () => {
    expect(judgeWordPieces(marked(UNK, ...words(9)), UNK)).toBe('fit');
    expect(judgeWordPieces(marked(UNK, ...words(8)), UNK)).toBe('unknown_tokens');
    expect(judgeWordPieces(marked(UNK, UNK, ...words(18)), UNK)).toBe('fit');
    expect(judgeWordPieces(marked(UNK, UNK, ...words(17)), UNK)).toBe('unknown_tokens');
  });

  it('does not count the marks as known', () => {
    expect(judgeWordPieces(marked(UNK), UNK)).toBe('unknown_tokens');
  });
});
