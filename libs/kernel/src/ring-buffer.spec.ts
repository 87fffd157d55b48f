import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RingBuffer } from './ring-buffer.js';

describe('RingBuffer', () => {
  it('lets the oldest go when it is full, and returns it', () => {
    const ring = new RingBuffer<string>(3);
    expect(['a', 'b', 'c', 'd'].map((value) => ring.push(value))).toEqual([
      undefined,
      undefined,
      undefined,
      'a',
    ]);
    expect(ring.toArray()).toEqual(['b', 'c', 'd']);
    expect([ring.at(0), ring.at(2), ring.at(3), ring.at(-1)]).toEqual(['b', 'd', undefined, undefined]);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses a capacity of %d', (capacity) => {
    expect(() => new RingBuffer(capacity)).toThrow(RangeError);
  });

  it('behaves like an array cut to its last N, also while its oldest are taken', () => {
    const operation = fc.oneof(
      { weight: 8, arbitrary: fc.record({ push: fc.integer() }) },
      { weight: 2, arbitrary: fc.constant({ shift: true as const }) },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.array(operation, { maxLength: 100, size: 'max' }),
        (capacity, operations) => {
          const ring = new RingBuffer<number>(capacity);
          let model: number[] = [];
          for (const each of operations) {
            if ('push' in each) {
              const full = model.length === capacity;
              expect(ring.push(each.push)).toBe(full ? model[0] : undefined);
              model = [...model, each.push].slice(-capacity);
            } else {
              expect(ring.shift()).toBe(model[0]);
              model = model.slice(1);
            }
            expect(ring.toArray()).toEqual(model);
            expect([...ring]).toEqual(model);
            expect(ring.size).toBe(model.length);
            expect(Array.from({ length: 11 }, (_, index) => ring.at(index - 1))).toEqual(
              Array.from({ length: 11 }, (_, index) => model[index - 1]),
            );
          }
        },
      ),
    );
  });
});
