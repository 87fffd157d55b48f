import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numbersOf, ROW_TEXTS, rowOf, WindowRows, type WindowSlot } from './window-rows.js';

const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ open: fc.constantFrom(1, 5, 100), count: fc.constantFrom(1, 40, 1_100) }),
  },
  { weight: 2, arbitrary: fc.record({ close: fc.nat(), count: fc.constantFrom(1, 40, 3_000) }) },
);

describe('WindowRows', () => {
  it('never hands out a row twice, gives each back empty, and keeps rows of other lengths apart', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 20 }), (operations) => {
        const rows = new WindowRows();
        const open = new Map<WindowSlot, { capacity: number; mark: number }>();
        let marks = 0;
        const look = (slot: WindowSlot) => {
          const { numbers, texts, capacity } = rows.pageOf(slot);
          const row = rowOf(slot);
          const found = {
            capacity,
            numbers: numbers.subarray(row * numbersOf(capacity), (row + 1) * numbersOf(capacity)),
            texts: texts.slice(row * ROW_TEXTS, (row + 1) * ROW_TEXTS),
          };
          // Inside its page: of a row beyond the end all that follows would be true.
          expect([found.numbers.length, found.texts.length]).toEqual([numbersOf(capacity), ROW_TEXTS]);
          return found;
        };
        const openOne = (capacity: number) => {
          const slot = rows.open(capacity);
          expect(open.has(slot)).toBe(false);
          const row = look(slot);
          expect(row.capacity).toBe(capacity);
          expect(row.numbers.every((number) => number === 0)).toBe(true);
          expect(row.texts.every((text) => text === '')).toBe(true);
          marks += 1;
          row.numbers.fill(marks);
          const { texts } = rows.pageOf(slot);
          texts.fill(`${marks}`, rowOf(slot) * ROW_TEXTS, (rowOf(slot) + 1) * ROW_TEXTS);
          open.set(slot, { capacity, mark: marks });
        };
        for (const operation of operations) {
          if ('open' in operation) for (let at = 0; at < operation.count; at += 1) openOne(operation.open);
          else {
            const slots = [...open.keys()];
            const from = operation.close % Math.max(1, slots.length);
            for (const slot of slots.slice(from, from + operation.count)) {
              rows.close(slot);
              open.delete(slot);
            }
          }
        }
        for (const [slot, { capacity, mark }] of open) {
          const row = look(slot);
          expect(row.capacity).toBe(capacity);
          expect(row.numbers.every((number) => number === mark)).toBe(true);
          expect(row.texts.every((text) => text === `${mark}`)).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('takes up what was given back before it takes more, also for rows of another length', () => {
    const rows = new WindowRows();
    const openMany = (capacity: number, count: number) =>
      new Set(Array.from({ length: count }, () => rows.open(capacity)));
    const alone = rows.open(3);
    const twoPages = 2 * rows.pageOf(alone).rows;
    rows.close(alone);
    expect(rows.open(2)).toBe(alone);
    rows.close(alone);
    const full = openMany(5, twoPages);
    const givenBack = new Set([...full].slice(7, 9));
    for (const slot of givenBack) rows.close(slot);
    expect(openMany(5, 2)).toEqual(givenBack);
    for (const slot of full) rows.close(slot);
    expect(openMany(1, twoPages)).toEqual(full);
  });
});
