import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { ReplyDeadline } from './reply-deadline.js';

/** One Redis, whose clock stands where `now` says. */
function place() {
  const at = { steadyMs: 1_000, now: 500_000 };
  const deadline = new ReplyDeadline({
    client: {} as Redis,
    clock: { steadyMs: () => at.steadyMs },
    timeoutMs: 50,
  });
  /** The deadline that it was asked with. */
  const ask = async (tookMs: number): Promise<number | ''> => {
    let given: number | '' = '';
    await deadline.asked('key', async (untilMs) => {
      given = untilMs;
      at.steadyMs += tookMs;
      at.now += tookMs;
      return [at.now];
    });
    return given;
  };
  return { at, ask };
}

test('nothing is late for a Redis that has not said yet what time it is', async () => {
  expect(await place().ask(3)).toBe('');
});

test('it is as far off as anybody waits, by the clock that replies, however long ago that was', async () => {
  const { at, ask } = place();
  await ask(0);
  expect(await ask(0)).toBe(at.now + 50);
  at.steadyMs += 60_000;
  at.now += 60_000;
  expect(await ask(0)).toBe(at.now + 50);
});

test('no take is late for the way of an earlier reply', async () => {
  const { at, ask } = place();
  await ask(40);
  expect(await ask(0)).toBe(at.now + 40 + 50);
});

test('a reply that lay there for longer says nothing of now', async () => {
  const { at, ask } = place();
  await ask(0);
  await ask(1_500);
  expect(await ask(0)).toBe(at.now + 50);
});

test('a clock that was moved is followed', async () => {
  const { at, ask } = place();
  await ask(0);
  at.now += 3_600_000;
  expect(await ask(0)).toBeLessThan(at.now);
  expect(await ask(0)).toBe(at.now + 50);
});
