import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Fingerprint, fingerprint, hammingDistance, normalise } from './index.js';
import { BORDER, MIX_FEATURE, MIX_LAST, MIX_TOKEN, PIECE_BYTES, SYMBOL } from './simhash/layout.js';

/** What the WebAssembly program computes, written to be read: one counter a bit, regular expressions, big integers. */
function plainFingerprint(text: string): Fingerprint | null {
  const wrap = (value: bigint) => BigInt.asUintN(64, value);
  const rotate = (value: bigint, by: bigint) => wrap((value << by) | (value >> (64n - by)));
  const foldDown = (value: bigint, by: bigint) => value ^ (value >> by);
  const word = (bytes: Buffer, at: number) => Buffer.concat([bytes, Buffer.alloc(16)]).readBigUInt64LE(at);
  const hash = (bytes: Buffer) =>
    foldDown(wrap((word(bytes, 0) + rotate(word(bytes, 8), 29n)) * MIX_TOKEN), 32n);
  // The text is in lower case, so what is in upper case are the symbols.
  const symbols: Record<string, number> = {
    '<NUM>': SYMBOL.number,
    '<TS>': SYMBOL.timestamp,
    '<ID>': SYMBOL.uuid,
  };
  const wordByte = 'a-z0-9\\x80-\\u2fff';
  const token = new RegExp(
    `<NUM>|<TS>|<ID>|[\\u3000-\\u{10ffff}][${wordByte}]*|[${wordByte}]+|(?:(?!<NUM>|<TS>|<ID>)[[\\x21-\\x7f]--[a-z0-9]])+`,
    'gv',
  );
  const tokens: bigint[] = [];
  for (const [match] of normalise(text).matchAll(token)) {
    const bytes = match in symbols ? Buffer.of(symbols[match] as number) : Buffer.from(match);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      tokens.push(hash(bytes.subarray(at, at + PIECE_BYTES)));
  }
  if (tokens.length === 0) return null;
  const features: bigint[] = [];
  let [before, beforeThat, exact] = [BORDER, BORDER, 0n];
  for (const one of [...tokens, BORDER, BORDER]) {
    const feature = foldDown(wrap((one ^ rotate(before, 23n) ^ rotate(beforeThat, 47n)) * MIX_FEATURE), 29n);
    exact = wrap(rotate(exact, 5n) + feature);
    features.push(feature);
    [before, beforeThat] = [one, before];
  }
  const whole = foldDown(wrap(foldDown(wrap(exact * MIX_LAST), 29n) * MIX_FEATURE), 32n);
  features.push(whole, whole, ...(tokens.length % 2 === 0 ? [whole] : []));
  let bits = 0n;
  for (let bit = 0n; bit < 64n; bit += 1n) {
    const count = features.filter((feature) => (feature >> bit) & 1n).length;
    if (count > features.length / 2) bits |= 1n << bit;
  }
  return { hi: Number(bits >> 32n) | 0, lo: Number(bits & 0xffffffffn) | 0 };
}

const uuid = fc.uuid();
const instant = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2060-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const number = fc
  .oneof(
    fc.nat(),
    fc.nat().map((value) => value / 100),
    fc.nat(99_999).map((value) => value.toLocaleString('en-US')),
  )
  .map(String)
  .filter((text) => !text.includes('e'));
const name: fc.Arbitrary<string> = fc.constantFrom(
  'retry',
  'Order',
  'gpt4',
  'deadbeef',
  'face',
  'Straße',
  'ПРИВЕТ',
  '日本',
  '👍',
  'x',
  "don't",
  'internationalization',
  'user_',
  'ORD-',
  '0x',
  'e5',
  't',
);
const sign = fc.constantFrom(
  '.',
  ', ',
  ':',
  '-',
  '(',
  ')',
  '{"',
  '":',
  '  ',
  '\n',
  '<',
  '\u00a0',
  '+',
  'T',
  'Z',
  '%',
);
/** Pieces put together without space between them, so that every border occurs. */
const messy = fc
  .array(
    fc.oneof(
      name,
      number,
      uuid,
      instant,
      sign,
      fc.constant(' '),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 60, size: 'max' },
  )
  .map((parts) => parts.join(''));
const sentence = (varying: fc.Arbitrary<string>) =>
  fc.tuple(fc.array(name, { minLength: 1, maxLength: 20, size: 'max' }), varying);
const distance = (one: string, other: string) =>
  hammingDistance(fingerprint(one) as Fingerprint, fingerprint(other) as Fingerprint);
const randomWords = (count: number) =>
  fc.array(
    fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), minLength: 2, maxLength: 9 }),
    { minLength: count, maxLength: count },
  );

describe('fingerprint', () => {
  it('is what the plain algorithm gives, for any mixture of words, numbers, UUIDs, timestamps, signs and noise', () => {
    fc.assert(
      fc.property(messy, (text) => {
        expect(fingerprint(text)).toEqual(plainFingerprint(text));
      }),
      { numRuns: 500 },
    );
  });

  it('is what the plain algorithm gives at every length around its blocks and batches', () => {
    const text = 'Step 17: wrote internationalization.ts at 2026-01-31T12:00:00Z, ok! '.repeat(90);
    for (let length = 1; length < 200; length += 1)
      expect(fingerprint(text.slice(0, length)), `${length}`).toEqual(
        plainFingerprint(text.slice(0, length)),
      );
    for (let length = 2_300; length < text.length; length += 211)
      expect(fingerprint(text.slice(0, length)), `${length}`).toEqual(
        plainFingerprint(text.slice(0, length)),
      );
  });

  it('does not depend on case or on the amount of white space', () => {
    const space = fc.constantFrom(' ', '  ', '\n', '\t\r\n ', '\u00a0');
    fc.assert(
      fc.property(
        fc.array(name, { minLength: 1, maxLength: 30, size: 'max' }),
        fc.array(space, { minLength: 30, maxLength: 30 }),
        (words, spaces) => {
          const spread = words.map((word, index) => word.toUpperCase() + spaces[index]).join('');
          // Upper case does not always come back (ß), so it is the start on both sides.
          expect(fingerprint(spread)).toEqual(fingerprint(words.join(' ').toUpperCase().toLowerCase()));
        },
      ),
    );
  });

  it.each([
    ['numbers', number],
    ['UUIDs', uuid],
    ['timestamps', instant],
  ])('does not depend on which %s stand in the text', (_what, varying) => {
    fc.assert(
      fc.property(sentence(varying), varying, fc.nat(20), ([words, one], other, at) => {
        const put = (value: string) => words.toSpliced(at, 0, `(${value})`, value).join(' ');
        expect(distance(put(one), put(other))).toBe(0);
      }),
    );
  });

  it('has a distance that is symmetric, 0 to itself, and obeys the triangle inequality', () => {
    const text = messy.filter((one) => fingerprint(one) !== null);
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        expect(distance(a, b)).toBe(distance(b, a));
        expect(distance(a, a)).toBe(0);
        expect(distance(a, c)).toBeLessThanOrEqual(distance(a, b) + distance(b, c));
      }),
    );
  });

  it('moves less for one word of a long text than for all of a text', () => {
    fc.assert(
      fc.property(randomWords(2_000), fc.nat(1_999), (words, at) => {
        const edited = words.with(at, 'Zebra7');
        expect(distance(words.join(' '), edited.join(' '))).toBeLessThanOrEqual(10);
        expect(distance(words.join(' '), words.toReversed().join(' '))).toBeGreaterThanOrEqual(8);
      }),
      { numRuns: 40 },
    );
  });

  it('is far for different texts, short ones too', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }).chain((count) => fc.tuple(randomWords(count), randomWords(count))),
        ([one, other]) => {
          fc.pre(one.join(' ') !== other.join(' ') && one.every((word, index) => word !== other[index]));
          expect(distance(one.join(' '), other.join(' '))).toBeGreaterThanOrEqual(3);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is not similar for short questions that differ in one word', () => {
    fc.assert(
      fc.property(randomWords(12), fc.nat(11), (words, at) => {
        expect(distance(words.join(' '), words.with(at, 'zzzzebra').join(' '))).toBeGreaterThanOrEqual(3);
      }),
      { numRuns: 1_000 },
    );
  });
});
