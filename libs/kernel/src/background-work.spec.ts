import { expect, it } from 'vitest';
import { BackgroundWork } from './background-work.js';
import { deferred } from './deferred.js';

it('is settled once what was under way is over, whatever has begun since', async () => {
  const work = new BackgroundWork();
  const [first, second] = [deferred<number>(), deferred()];
  const firstOver = work.add(first.promise);
  let isSettled = false;
  const settled = work.settled().then(() => {
    isSettled = true;
  });
  work.add(second.promise);
  expect([work.size, isSettled]).toEqual([2, false]);
  first.resolve(7);
  expect(await firstOver).toBe(7);
  await settled;
  expect([work.size, isSettled]).toEqual([1, true]);
});

it('keeps nothing of work that has failed, and tells who asks', async () => {
  const work = new BackgroundWork();
  const failing = deferred();
  const failed = work.add(failing.promise);
  const asked = work.settled();
  failing.reject(new Error('disk full'));
  await expect(failed).rejects.toThrow('disk full');
  await expect(asked).rejects.toThrow('disk full');
  expect(work.size).toBe(0);
});
