import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STATIC_BUCKET_COUNT } from './static-buckets.js';
import { StaticFeaturiser } from './static-featuriser.js';
import { STATIC_END_COUNT, tokeniseForStatic } from './static-tokens.js';

/** Any UTF-16 units, halves of characters among them, and what agents' texts are made of. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200, size: 'max' }),
  fc.string({ unit: 'grapheme', maxLength: 60, size: 'max' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 80, size: 'max' })
    .map((units) => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom('retry', '订单', "don't", '42', '🚀', 'ﬁ', 'é', '—', '\u{20000}'), {
      maxLength: 40,
      size: 'max',
    })
    .map((parts) => parts.join(' ')),
);
const shared = new StaticFeaturiser({ wordsRememberedMax: 64 });

describe('the features of any text', () => {
  it('are ascending, once each, and rows of the table', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const ids = shared.features(text);
        for (let at = 0; at < ids.length; at += 1) {
          expect(ids[at]).toBeGreaterThan(at === 0 ? -1 : (ids[at - 1] as number));
          expect(ids[at]).toBeLessThan(STATIC_BUCKET_COUNT);
        }
      }),
    );
  });

  it('are the same from a featuriser that has seen other texts and from a new one', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(shared.features(text)).toEqual(new StaticFeaturiser().features(text));
      }),
    );
  });

  it('are the same however its characters are composed', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD'), (text, form) => {
        expect(shared.features(text.normalize(form))).toEqual(shared.features(text));
      }),
    );
  });
});

describe('the tokens of any text', () => {
  it('are never more than the ends of a long one, and begin and end with its own', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000 }), (count) => {
        const words = Array.from({ length: count }, (_, at) => `w${at}`);
        const tokens = tokeniseForStatic(words.join(' '));
        const expected =
          count <= 2 * STATIC_END_COUNT
            ? words
            : [...words.slice(0, STATIC_END_COUNT), ...words.slice(-STATIC_END_COUNT)];
        expect(tokens.words).toEqual(expected);
        expect(tokens.classes).toHaveLength(expected.length);
      }),
    );
  });
});
