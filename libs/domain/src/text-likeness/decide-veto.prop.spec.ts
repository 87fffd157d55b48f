import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEXT_VETOES } from '#contracts';
import { decideVeto, VETO_TEXT_CHARS_MAX } from './index.js';

const piece = fc.oneof(
  fc.constantFrom(
    ..."the a not no never without on off from to first last one two hundred and of May march Paris Rome paris PR C++ -5 --force -x 3 30s 10% $5 1,000 v1.2 ABC-123 10:30 2026-11-21 #12 2nd 2 + - = < <div> -> auth.ts src/a.ts getUser get_user foo() `x` ``` \" ' “ ” ‘ ’ 「 」 《 it's can't constructor __proto__ toString hasOwnProperty 不 没有 能不能 一个 三月 十分钟 百分之十 星期一 打开 关闭 从 到 北京 👍 é".split(
      ' ',
    ),
    '\n',
    '\n\n',
    ', ',
    '. ',
    '? ',
    '(',
    ')',
    '[',
    '*',
    '|',
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ unit: fc.constantFrom(...'abcdefg'), minLength: 1, maxLength: 8 }),
  fc.nat().map(String),
);
const text = fc
  .array(fc.tuple(piece, fc.constantFrom(' ', ' ', ' ', '')), { maxLength: 40, size: 'max' })
  .map((pieces) => pieces.flat().join(''));
const strict = fc.boolean();
/** Plain words that mean nothing to any list. */
const word = fc
  .string({ unit: fc.constantFrom(...'bcfgkvz'), minLength: 5, maxLength: 9 })
  .map((letters) => `${letters}o`);
const sentence = fc.uniqueArray(word, { minLength: 4, maxLength: 30, size: 'max' });

describe('decideVeto', () => {
  it('never throws, is symmetric, and gives the same answer twice', () => {
    fc.assert(
      fc.property(text, text, strict, (one, other, isStrict) => {
        const veto = decideVeto(one, other, { strict: isStrict });
        expect(veto === null || TEXT_VETOES.includes(veto)).toBe(true);
        expect(decideVeto(other, one, { strict: isStrict })).toBe(veto);
        expect(decideVeto(one, other, { strict: isStrict })).toBe(veto);
      }),
      { numRuns: 1_000 },
    );
  });

  it('lets a text stand for itself, with other white space too', () => {
    fc.assert(
      fc.property(text, strict, (one, isStrict) => {
        expect(decideVeto(one, one, { strict: isStrict })).toBeNull();
        expect(decideVeto(`${one} `, ` ${one}`, { strict: isStrict })).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  it('vetoes in the strict mode whatever it vetoes without, for the same reason', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const veto = decideVeto(one, other, { strict: false });
        if (veto !== null && veto !== 'word_order')
          expect(decideVeto(one, other, { strict: true })).toBe(veto);
      }),
      { numRuns: 1_000 },
    );
  });

  it('vetoes another number, wherever in a sentence it stands', () => {
    fc.assert(
      fc.property(sentence, fc.nat(30), fc.nat(), fc.nat(), (words, at, one, other) => {
        fc.pre(one !== other);
        const put = (value: number) => words.toSpliced(at, 0, String(value)).join(' ');
        expect(['numbers', 'dates']).toContain(decideVeto(put(one), put(other), { strict: false }));
      }),
    );
  });

  it('vetoes one "not", wherever in a sentence it stands', () => {
    fc.assert(
      fc.property(sentence, fc.nat(30), (words, at) => {
        expect(decideVeto(words.join(' '), words.toSpliced(at, 0, 'not').join(' '), { strict: false })).toBe(
          'negation',
        );
      }),
    );
  });

  it('vetoes two names that changed places', () => {
    fc.assert(
      fc.property(sentence, fc.nat(28), (words, from) => {
        const at = 1 + (from % (words.length - 1));
        const put = (one: string, other: string) => words.toSpliced(at, 0, one, 'to', other).join(' ');
        expect(decideVeto(put('Oslo', 'Quito'), put('Quito', 'Oslo'), { strict: false })).toBe('entities');
      }),
    );
  });

  it('vetoes one exchanged word; one added or dropped, and another order, in the strict mode only', () => {
    fc.assert(
      fc.property(sentence, fc.nat(), (words, seed) => {
        const at = seed % words.length;
        for (const strict of [false, true])
          expect(decideVeto(words.join(' '), words.with(at, 'zebra').join(' '), { strict })).toBe('one_word');
        for (const changed of [words.toSpliced(at, 1), words.toSpliced(at, 0, 'zebra')]) {
          expect(decideVeto(words.join(' '), changed.join(' '), { strict: true })).toBe('one_word');
          expect(decideVeto(words.join(' '), changed.join(' '), { strict: false })).toBeNull();
        }
        const turned = words.toReversed().join(' ');
        expect(decideVeto(words.join(' '), turned, { strict: true })).toBe('word_order');
        expect(decideVeto(words.join(' '), turned, { strict: false })).toBeNull();
      }),
    );
  });

  it('lets case, punctuation and politeness pass, strictly too', () => {
    fc.assert(
      fc.property(sentence, fc.constantFrom('?', '!', '.', '...', ' '), (words, end) => {
        const plain = words.join(' ');
        for (const isStrict of [false, true])
          for (const other of [plain.toUpperCase(), `Please ${plain}${end}`, `could you ${words.join(', ')}`])
            expect(decideVeto(plain, other, { strict: isStrict })).toBeNull();
      }),
    );
  });

  it.each([
    ['opening quotes', '"a '],
    ['closing quotes', "x' "],
    ['single quotes', "'"],
    ['opened quotes', " 'a"],
    ['Han quotes', '「一'],
    ['backticks', '`a'],
    ['fences', '```'],
    ['digits', '1'],
    ['commas and digits', ',1'],
    ['dots and letters', '.a'],
    ['hyphens', '-a'],
    ['signs', '+-'],
    ['slashes', '/a'],
    ['angle brackets', '<a '],
    ['capitals', 'Zx '],
    ['acronyms', 'ZX '],
    ['nots', 'not '],
    ['number words', 'two hundred and '],
    ['Han numerals', '三'],
    ['Han', '不是'],
    ['line feeds', '\n'],
    ['emoji', '👍'],
    ['quoted texts', '"ab" "cd" '],
    ['ligatures that grow', '\ufdfa'],
  ])('reads no character of a megabyte of %s more than a bounded number of times', (_what, unit) => {
    const many = unit.repeat(Math.ceil(1_048_576 / unit.length));
    const counted = countReads(() => {
      decideVeto(`${many}x`, `${many}x`, { strict: true });
      decideVeto(many.slice(0, VETO_TEXT_CHARS_MAX - 1), `${many.slice(0, VETO_TEXT_CHARS_MAX - 2)}z`, {
        strict: true,
      });
    });
    expect(counted).toBeLessThan(60 * VETO_TEXT_CHARS_MAX);
  });
});

/** Looks at single characters; what regular expressions and searches do is not counted. */
function countReads(run: () => void): number {
  const { charCodeAt, charAt } = String.prototype;
  let count = 0;
  String.prototype.charCodeAt = function (this: string, at: number) {
    count += 1;
    return charCodeAt.call(this, at);
  };
  String.prototype.charAt = function (this: string, at: number) {
    count += 1;
    return charAt.call(this, at);
  };
  try {
    run();
  } finally {
    String.prototype.charCodeAt = charCodeAt;
    String.prototype.charAt = charAt;
  }
  return count;
}
