import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OldestEntry } from './oldest-entry.js';

it('takes what has been there longest, whatever came, went and came again in between', () => {
  const change = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), key: fc.integer({ min: 0, max: 12 }) }),
    fc.record({ kind: fc.constant('delete' as const), key: fc.integer({ min: 0, max: 12 }) }),
    fc.record({ kind: fc.constant('take' as const), key: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200, size: 'max' }), (changes) => {
      const map = new Map<number, number>();
      const oldest = new OldestEntry(map);
      let count = 0;
      for (const { kind, key } of changes) {
        count += 1;
        if (kind === 'set') map.set(key, count);
        else if (kind === 'delete') map.delete(key);
        else {
          const expected = map.entries().next().value;
          const sizeBefore = map.size;
          expect(oldest.take()).toEqual(expected);
          expect(map.size).toBe(Math.max(0, sizeBefore - 1));
        }
      }
    }),
  );
});

it('goes on after it has emptied the map', () => {
  const map = new Map([['a', 1]]);
  const oldest = new OldestEntry(map);
  expect(oldest.take()).toEqual(['a', 1]);
  expect(oldest.take()).toBeUndefined();
  map.set('b', 2);
  expect(oldest.take()).toEqual(['b', 2]);
});
