import { expect, it } from 'vitest';
import { deferred } from '#kernel';
import { FakeTime } from '#testing';
import { UnsavedWrites } from './unsaved-writes.js';

const ROUND_MS = 5_000;

it('does not write again what became needless while it was refused once more', async () => {
  const time = new FakeTime();
  const unsaved = new UnsavedWrites(time);
  const refusal = deferred();
  let count = 0;
  unsaved.add('a stop', async () => {
    count += 1;
    await refusal.promise;
    throw new Error('busy');
  });
  await time.pass(ROUND_MS);
  expect(unsaved.delete('a stop')).toBe(true);
  refusal.resolve();
  await time.pass(ROUND_MS);
  expect([count, unsaved.size]).toEqual([1, 0]);
});

it('begins each round with another one than that which was refused last', async () => {
  const time = new FakeTime();
  const unsaved = new UnsavedWrites(time);
  const tried: string[] = [];
  for (const key of ['first', 'second'])
    unsaved.add(key, async () => {
      tried.push(key);
      throw new Error('busy');
    });
  for (let round = 0; round < 3; round += 1) await time.pass(ROUND_MS);
  expect(tried).toEqual(['first', 'second', 'first']);
});
