import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SidecarFailure } from '#contracts/embedding';
import { PendingCalls } from './pending-calls.js';

let timeouts: number;
let pending: PendingCalls;

beforeEach(() => {
  vi.useFakeTimers();
  timeouts = 0;
  pending = new PendingCalls({
    countMax: 2,
    charsMax: 100,
    onTimeout: () => {
      timeouts += 1;
    },
  });
});
afterEach(() => {
  vi.useRealTimers();
});

function add(chars = 1, timeoutMs = 50) {
  const call = pending.add(chars, timeoutMs);
  if (call === null) throw new Error('no room');
  return call;
}

it('gives each caller the reply under its id, in whatever order they come', async () => {
  const [one, two] = [add(), add()];
  pending.answer({ id: two.id, failure: { code: 2, message: 'two' } });
  pending.answer({ id: one.id, failure: { code: 1, message: 'one' } });
  expect((await one.reply).failure?.message).toBe('one');
  expect((await two.reply).failure?.message).toBe('two');
  expect(pending.size).toBe(0);
});

it('rejects at its time, once, and ignores the reply that comes too late', async () => {
  const { id, reply } = add(1, 50);
  const outcome = expect(reply).rejects.toMatchObject({ reason: 'timeout' });
  vi.advanceTimersByTime(50);
  await outcome;
  pending.answer({ id });
  expect([timeouts, pending.size]).toEqual([1, 0]);
});

it('has no room beyond its count, nor beyond its characters, and again when something left', () => {
  add(10);
  const { id } = add(90);
  expect(pending.add(1, 50)).toBeNull();
  pending.answer({ id });
  expect(pending.add(91, 50)).toBeNull();
  expect(pending.add(90, 50)).not.toBeNull();
});

it('takes a single text of any length when nothing else is on its way', () => {
  expect(pending.add(1_000_000, 50)).not.toBeNull();
  expect(pending.add(1, 50)).toBeNull();
});

it('rejects all at once, and leaves no timer behind', async () => {
  const calls = [add(), add()];
  pending.rejectAll(new SidecarFailure('unavailable', 'gone'));
  for (const { reply } of calls) await expect(reply).rejects.toMatchObject({ reason: 'unavailable' });
  expect(vi.getTimerCount()).toBe(0);
  expect(timeouts).toBe(0);
});
