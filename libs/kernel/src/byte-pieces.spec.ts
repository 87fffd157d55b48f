import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BytePieces } from './byte-pieces.js';

/** @param cuts sizes of the pieces, one after another */
function piecesOf(cuts: readonly number[]): { pieces: BytePieces; whole: Buffer } {
  const pieces = new BytePieces();
  const whole = Buffer.from(
    Array.from({ length: cuts.reduce((sum, cut) => sum + cut, 0) }, (_, at) => at * 7),
  );
  let from = 0;
  for (const cut of cuts) {
    pieces.push(Buffer.from(whole.subarray(from, from + cut)));
    from += cut;
  }
  return { pieces, whole };
}

describe('the bytes of a body', () => {
  test('are those that came, however they were cut, and whenever somebody looks', () => {
    const cut = fc.oneof(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 9_000 }),
      fc.constant(40_000),
    );
    fc.assert(
      fc.property(fc.array(cut, { minLength: 1, maxLength: 30 }), fc.nat(29), (cuts, lookedAt) => {
        const { pieces, whole } = piecesOf(cuts);
        const looked = new BytePieces();
        for (const [at, piece] of pieces.all.entries()) {
          looked.push(piece);
          if (at === lookedAt) looked.read((bytes) => bytes.length);
        }
        for (const each of [pieces, looked]) {
          expect(each.byteCount).toBe(whole.length);
          expect(Buffer.concat(each.all).equals(whole)).toBe(true);
          expect(each.toBuffer().equals(whole)).toBe(true);
          expect(each.read((bytes) => Buffer.from(bytes)).equals(whole)).toBe(true);
        }
      }),
    );
  });

  test('that come one by one are kept in few pieces', () => {
    const { pieces } = piecesOf(Array(100_000).fill(1));
    expect(pieces.all.length).toBeLessThan(6);
    const { pieces: mixed } = piecesOf(Array.from({ length: 2_000 }, (_, at) => (at % 2 === 0 ? 1 : 4_096)));
    expect(new Set(mixed.all.filter(({ length }) => length === 1).map(({ buffer }) => buffer)).size).toBe(2);
  });

  test('that came in one piece are not copied', () => {
    const piece = Buffer.from('{"model":"m"}');
    const pieces = new BytePieces();
    pieces.push(piece);
    expect(pieces.toBuffer()).toBe(piece);
    expect(pieces.read((bytes) => bytes)).toBe(piece);
  });

  test('of two bodies that are read one within the other, or of one that throws, do not mix', () => {
    const { pieces: one, whole } = piecesOf([30_000, 30_000]);
    const { pieces: other, whole: otherWhole } = piecesOf([5_000, 50_000, 9_000]);
    one.read((outer) => {
      expect(() =>
        other.read((inner) => {
          expect(inner.equals(otherWhole)).toBe(true);
          throw new Error('no JSON');
        }),
      ).toThrow('no JSON');
      expect(outer.equals(whole)).toBe(true);
    });
    expect(one.read((bytes) => bytes.equals(whole))).toBe(true);
  });

  test("that were given away are nobody else's any more, and still counted", () => {
    const { pieces, whole } = piecesOf([3, 5_000, 7]);
    expect(Buffer.concat(pieces.giveAway()).equals(whole)).toBe(true);
    expect(pieces.byteCount).toBe(whole.length);
    expect(() => pieces.read((bytes) => bytes.length)).toThrow('given away');
    expect(() => pieces.giveAway()).toThrow('given away');
  });

  test.each([0, 4 * 1024 * 1024 + 1])('may be %i', (byteCount) => {
    const { pieces, whole } = piecesOf(byteCount === 0 ? [] : [byteCount - 5_000, 5_000]);
    expect(pieces.read((bytes) => bytes.equals(whole))).toBe(true);
  });
});
