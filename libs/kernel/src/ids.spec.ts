import { expect, it } from 'vitest';
import { randomIds } from './ids.js';

it('are as long as asked for and never the same, however many were made before', () => {
  const ids = Array.from({ length: 2_000 }, (_, index) => randomIds.next(index % 2 === 0 ? 24 : undefined));
  expect(ids.every((id, index) => id.length === (index % 2 === 0 ? 32 : 22))).toBe(true);
  expect(new Set(ids.map((id) => id.slice(0, 16))).size).toBe(2_000);
});

it('may be longer than what is fetched at once', () => {
  const [one, other] = [randomIds.next(6_000), randomIds.next(6_000)];
  expect([one.length, one === other]).toEqual([8_000, false]);
});
