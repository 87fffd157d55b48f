import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LargestFirst } from './largest-first.js';

it('knows the largest, and the largest but for one, whatever came, changed and left', () => {
  const changes = fc.array(fc.tuple(fc.nat(12), fc.nat(5)), { maxLength: 200 });
  fc.assert(
    fc.property(changes, (steps) => {
      const order = new LargestFirst<number>();
      const amounts = new Map<number, number>();
      for (const [item, amount] of steps) {
        order.set(item, amount);
        // A Map keeps the order in which they came.
        if (amount === 0) amounts.delete(item);
        else amounts.set(item, amount);
        for (const other of [undefined, ...amounts.keys()]) {
          const rest = [...amounts].filter(([one]) => one !== other);
          const most = Math.max(...rest.map(([, each]) => each));
          expect(order.largest(other)).toBe(rest.find(([, each]) => each === most)?.[0]);
        }
        expect(order.amountOf(item)).toBe(amount);
      }
    }),
  );
});

it('is empty once cleared', () => {
  const order = new LargestFirst<string>();
  order.set('a', 2);
  order.clear();
  expect([order.largest(), order.amountOf('a')]).toEqual([undefined, 0]);
});
