import { expect, it } from 'vitest';
import { PIECES_MAX, withThisTurn } from './turn-work.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('does the work of a turn at its end, in its order', async () => {
  const seen: string[] = [];
  withThisTurn(() => seen.push('first'));
  await Promise.resolve();
  seen.push('read');
  withThisTurn(() => seen.push('second'));
  await nextTurn();
  expect(seen).toEqual(['read', 'first', 'second']);
});

it('takes what is asked for at work to the next end', async () => {
  const seen: string[] = [];
  withThisTurn(() => {
    seen.push('outer');
    withThisTurn(() => seen.push('inner'));
  });
  await nextTurn();
  expect(seen).toEqual(['outer']);
  await nextTurn();
  expect(seen).toEqual(['outer', 'inner']);
});

it('does not let more wait than the bound, and does each piece once', async () => {
  let done = 0;
  for (let count = 0; count < 2 * PIECES_MAX + 1; count += 1)
    withThisTurn(() => {
      done += 1;
    });
  expect(done).toBe(2 * PIECES_MAX);
  await nextTurn();
  await nextTurn();
  expect(done).toBe(2 * PIECES_MAX + 1);
});
