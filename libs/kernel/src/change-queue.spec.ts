import { expect, test } from 'vitest';
import { ChangeQueue } from './change-queue.js';
import { deferred } from './deferred.js';

test('changes of one thing wait for each other, also for one that fails, and of another do not', async () => {
  const queue = new ChangeQueue<string>();
  const seen: string[] = [];
  const first = deferred();
  const change = (name: string, until?: Promise<void>) => async () => {
    seen.push(`${name} begins`);
    await until;
    seen.push(`${name} ends`);
    return name;
  };
  const one = queue.run('a', change('one', first.promise));
  const failing = queue.run('a', () => Promise.reject(new Error('no')));
  const two = queue.run('a', change('two'));
  expect(await queue.run('b', change('other'))).toBe('other');
  first.resolve();
  await expect(failing).rejects.toThrow('no');
  expect(await Promise.all([one, two])).toEqual(['one', 'two']);
  expect(seen).toEqual(['one begins', 'other begins', 'other ends', 'one ends', 'two begins', 'two ends']);
});

test('a thing is busy until its last change has settled, and all are idle when none is', async () => {
  const queue = new ChangeQueue<string>();
  await queue.idle();
  const [first, second] = [deferred(), deferred()];
  const one = queue.run('a', () => first.promise);
  const two = queue.run('a', () => second.promise);
  let isIdle = false;
  const idle = queue.idle().then(() => {
    isIdle = true;
  });
  first.resolve();
  await one;
  expect([queue.isBusy('a'), queue.isBusy('b'), isIdle]).toEqual([true, false, false]);
  const late = queue.run('b', () => Promise.reject(new Error('no')));
  second.resolve();
  await two;
  expect(queue.isBusy('a')).toBe(false);
  await idle;
  await expect(late).rejects.toThrow('no');
  expect(queue.isBusy('b')).toBe(false);
});
