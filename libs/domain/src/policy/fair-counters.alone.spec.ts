import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { liveBytes } from '#testing';
import { FairCounters } from './fair-counters.js';

it('keeps nothing of counters that have left, however long no tenant comes to the bound', async () => {
  const counters = new FairCounters<{ expiresMs: number }>(5_000);
  let nowMs = 0;
  const pass = async (count: number) => {
    nowMs += 1;
    for (let agent = 0; agent < count; agent += 1)
      counters.add(`tenant\0${nowMs}-${agent}-${'x'.repeat(100)}`, { expiresMs: nowMs + 1 }, nowMs);
    await setImmediate();
  };
  await pass(6_000);
  expect(counters.evictedCount).toBe(1_000);
  await pass(2_000);
  const before = liveBytes();
  for (let round = 0; round < 20; round += 1) await pass(2_000);
  expect(counters.size).toBeLessThan(4_000);
  // Of 2,000 each some 0.5 MB.
  expect(liveBytes() - before).toBeLessThan(2e6);
});

it('has room made by the tenant that has most, of equal ones by who needs it', () => {
  const counters = new FairCounters<{ expiresMs: number }>(5);
  const add = (tenant: string, name: string) => counters.add(`${tenant}\0${name}`, { expiresMs: 9 }, 0);
  const left = () =>
    ['a\x001', 'a\x002', 'b\x001', 'b\x002', 'c\x001', 'c\x002'].filter((key) => !counters.get(key));
  for (const name of ['1', '2']) for (const tenant of ['a', 'b']) add(tenant, name);
  add('c', '1');
  add('b', '3');
  expect(left()).toEqual(['b\x001', 'c\x002']);
  add('c', '2');
  expect(left()).toEqual(['a\x001', 'b\x001']);
});
