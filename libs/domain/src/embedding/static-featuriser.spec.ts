import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cutToEnds } from './cut-text.js';
import { STATIC_TEXT_CHARS_MAX } from './embedder-descriptions.js';
import { STATIC_BUCKET_COUNT } from './static-buckets.js';
import { StaticFeaturiser } from './static-featuriser.js';

const sha = (ids: Int32Array) => createHash('sha256').update(ids.join(',')).digest('hex').slice(0, 16);
const featuresOf = (text: string) => new StaticFeaturiser().features(text);

/** models/observatory-static-384/features.md, section 6: how many ids, and the beginning of their hash. */
const VECTORS: [text: string, count: number, hash: string][] = [
  ['', 0, 'e3b0c44298fc1c14'],
  ['Refund order 12', 30, '9b009a6832e0591f'],
  ['Refund order 13', 30, '7f88c50f46870a25'],
  ["Don't turn OFF the lights!", 50, '2e27e4a073a31d64'],
  ['👍 OK 🚀', 8, '85c0f7607304149b'],
  ['帮我查询订单 4821 的状态 please', 50, 'b12898430244bdbf'],
  ['const getUser_2 = (id) => x + 1;', 53, 'c841f43bd970e1d4'],
  ['Ünïcode ﬁne ＡＢＣ', 33, 'e947f90211bd7ef7'],
  [Array.from({ length: 10_000 }, (_, at) => `w${at}`).join(' '), 3_345, 'd3ab2513a2692b20'],
];

describe('the features of the static embedder', () => {
  it.each(VECTORS)('are those of its specification for "%.30s"', (text, count, hash) => {
    const ids = featuresOf(text);
    expect(ids).toHaveLength(count);
    expect(sha(ids)).toBe(hash);
  });

  it('are written out in the specification for a short text', () => {
    expect(featuresOf('👍 OK 🚀').join(' ')).toBe('3256 3759 3866 4305 6522 13379 19152 20264');
  });

  it.each([' ', '\n\t', '...!?', '_', '\u200d', '\ufe0f', '\ud800', '「」'])('are none for %j', (text) => {
    expect(featuresOf(text)).toHaveLength(0);
  });

  it('read either way of writing an apostrophe, capital letters and "not" alike', () => {
    expect(featuresOf('DON’T go')).toEqual(featuresOf("don't go"));
    expect(featuresOf("don't go")).toEqual(featuresOf('do not go'));
    expect(featuresOf("don'the go")).not.toEqual(featuresOf('do nothe go'));
  });

  it('pair two words across punctuation, but two Chinese characters only side by side', () => {
    expect(featuresOf('stop, now')).toEqual(featuresOf('stop now'));
    expect(featuresOf('订。单')).not.toEqual(featuresOf('订单'));
  });

  it('see which way round words stand', () => {
    expect(featuresOf('paris to rome')).not.toEqual(featuresOf('rome to paris'));
  });

  it('take no longer from a text of ten million characters than from its ends, and find the same', () => {
    const long = 'refund order 12 for the customer '.repeat(300_000);
    expect(featuresOf(cutToEnds(long, STATIC_TEXT_CHARS_MAX))).toEqual(
      featuresOf(long.slice(0, 40_000) + long.slice(-40_000)),
    );
  });

  it('do not depend on what was asked before, while words are forgotten and met again', () => {
    const featuriser = new StaticFeaturiser({ wordsRememberedMax: 4 });
    for (let round = 0; round < 3; round += 1) {
      for (const [text] of VECTORS.slice(0, 8)) expect(featuriser.features(text)).toEqual(featuresOf(text));
    }
    expect(featuriser.rememberedCount).toBeLessThanOrEqual(4);
  });

  it('remember no word that is longer than words are', () => {
    const featuriser = new StaticFeaturiser();
    const ids = featuriser.features('a'.repeat(10_000));
    expect(featuriser.rememberedCount).toBe(0);
    expect(ids.every((id) => id < STATIC_BUCKET_COUNT)).toBe(true);
  });
});
