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
