import { expect, test } from 'vitest';
import { FakeTime, turn } from '#testing';
import { lastAttempts } from './last-attempts.js';

test('the first comes at once, and the one that leaves nothing is the last', async () => {
  const time = new FakeTime();
  const outcomes = [false, true];
  const over = lastAttempts(time, async () => outcomes.shift() as boolean);
  await turn();
  expect(outcomes).toEqual([true]);
  await time.pass(100);
  await over;
  expect(outcomes).toEqual([]);
});

test('a store that tries a full disk once a second has tried it before they are over', async () => {
  const time = new FakeTime();
  const triedAtMs = time.steadyMs();
  let isTaken = false;
  const over = lastAttempts(time, async () => {
    isTaken ||= time.steadyMs() - triedAtMs >= 1_000;
    return isTaken;
  });
  await turn();
  await time.pass(2_000);
  await over;
  expect(isTaken).toBe(true);
});

test('a store that takes nothing holds up nobody for long', async () => {
  const time = new FakeTime();
  const over = lastAttempts(time, async () => false);
  await turn();
  await time.pass(2_000);
  await expect(over).resolves.toBeUndefined();
});
