import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { liveBytes } from '#testing';
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

it('keeps nothing of what has left the map, however long nothing is taken', async () => {
  const map = new Map<number, object>();
  const oldest = new OldestEntry(map);
  const fill = () => {
    for (let key = 0; key < 1_000; key += 1) map.set(key, { body: new Array(100).fill(key) });
  };
  fill();
  oldest.take();
  map.clear();
  // What the language keeps for the rest of a turn may go then.
  await setImmediate();
  const before = liveBytes();
  for (let round = 0; round < 20; round += 1) {
    fill();
    map.clear();
    await setImmediate();
  }
  // One filling is 0.9 MB.
  expect(liveBytes() - before).toBeLessThan(2e6);
});
