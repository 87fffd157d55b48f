import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { deferred } from './deferred.js';
import { withDeadline } from './with-deadline.js';

test('work in time ends as it ends, and leaves nothing behind at the deadline', async () => {
  const { signal } = new AbortController();
  const working = withDeadline(Promise.resolve(7), signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await expect(working).resolves.toBe(7);
  await expect(withDeadline(Promise.reject(new Error('no name')), signal)).rejects.toThrow('no name');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('the deadline ends the wait with its reason, whatever becomes of the work', async () => {
  const control = new AbortController();
  const work = deferred<number>();
  const waiting = withDeadline(work.promise, control.signal);
  control.abort(new Error('too late'));
  await expect(waiting).rejects.toThrow('too late');
  work.reject(new Error('heard by nobody'));
});

test('a deadline that has passed already waits for nothing', async () => {
  const never = new Promise<never>(() => {});
  await expect(withDeadline(never, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
});
