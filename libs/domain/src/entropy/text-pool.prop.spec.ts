import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EMPTY_TEXT, type TextId, TextPool } from './text-pool.js';

/** Few texts and fewer digests, so that they meet, leave and come back. */
const held = fc.record({
  hold: fc.constantFrom('', 'a', 'b', 'c', 'é', '\ud800', 'a'.repeat(300), 'a'.repeat(301)),
  digest: fc.constantFrom(0, -7, 4_096),
});
const operation = fc.oneof(held, fc.record({ again: fc.nat() }), fc.record({ release: fc.nat() }));

it('keeps each text under its number for as long as somebody holds it, whatever else comes and goes', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const pool = new TextPool();
      const holds: { id: TextId; text: string }[] = [];
      const numbers = () => new Set(holds.map(({ id }) => id));
      for (const operation of operations) {
        if ('hold' in operation) {
          const before = numbers();
          const id = pool.hold(operation.hold, operation.digest);
          // A number that is somebody's is given again for the same text alone.
          if (before.has(id)) expect(holds.find((one) => one.id === id)?.text).toBe(operation.hold);
          holds.push({ id, text: operation.hold });
        } else if ('again' in operation) {
          const one = holds[operation.again % Math.max(1, holds.length)];
          if (one) holds.push({ id: pool.holdAgain(one.id), text: one.text });
        } else {
          const [one] = holds.splice(operation.release % Math.max(1, holds.length), 1);
          if (one) pool.release(one.id);
          if (one && !numbers().has(one.id)) expect(pool.of(one.id)).toBe('');
        }
        for (const { id, text } of holds) expect(pool.of(id)).toBe(text);
      }
    }),
    {
      numRuns: 500,
      // The number of an empty text, once it was free, was given again without being taken from the free ones.
      examples: [
        [[{ hold: '', digest: -7 }, { release: 0 }, { hold: '', digest: -7 }, { hold: 'a', digest: 0 }]],
      ],
    },
  );
});

it('gives an equal text its number again, and what became free to the next text, over many pages', () => {
  const pool = new TextPool();
  const texts = Array.from({ length: 100_000 }, (_, index) => `text ${index}`);
  const first = texts.map((text, index) => pool.hold(text, index));
  expect(new Set(first).size).toBe(texts.length);
  expect(first).not.toContain(EMPTY_TEXT);
  expect(pool.hold('text 99999', 99_999)).toBe(first.at(-1));
  for (const id of first) pool.release(id);
  expect(pool.of(first.at(-1) as TextId)).toBe('text 99999');
  const second = texts.slice(1).map((text, index) => pool.hold(text, index));
  expect(new Set([...second, first.at(-1)])).toEqual(new Set(first));
});
