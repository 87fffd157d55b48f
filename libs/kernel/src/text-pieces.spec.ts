import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextPieces } from './text-pieces.js';

it('is the text of all that came, whenever it is looked at, since it was last cleared', () => {
  const pieces = fc.array(
    fc.oneof({ weight: 50, arbitrary: fc.string() }, fc.constantFrom('look', 'clear')),
    {
      maxLength: 1_000,
      size: 'max',
    },
  );
  fc.assert(
    fc.property(pieces, (pieces) => {
      const text = new TextPieces();
      let expected = '';
      for (const piece of pieces) {
        if (piece === 'clear') {
          text.clear();
          expected = '';
        } else {
          text.push(piece);
          expected += piece;
        }
        expect(text.length).toBe(expected.length);
        if (piece === 'look') expect(text.toString()).toBe(expected);
      }
      expect(`${text}`).toBe(expected);
    }),
    { numRuns: 100 },
  );
});
