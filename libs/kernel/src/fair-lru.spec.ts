import { expect, test } from 'vitest';
import { FakeClock } from '#testing';
import { FairLru } from './fair-lru.js';

function setUp(countMax = 10) {
  const clock = new FakeClock();
  const lru = new FairLru<number, string>({ countMax, idleMs: 1_000, clock });
  const fill = (tenant: string, count: number) => {
    for (let key = 0; key < count; key += 1) lru.set(tenant, key, `${tenant}${key}`);
  };
  const kept = (tenant: string) =>
    Array.from({ length: 100 }, (_, key) => key).filter((key) => lru.get(tenant, key) !== undefined);
  return { clock, lru, fill, kept };
}

test('one tenant alone has it all, and forgets what it touched longest ago', () => {
  const { lru, fill, kept } = setUp();
  fill('a', 10);
  lru.get('a', 0);
  lru.set('a', 10, 'a10');
  expect(kept('a')).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(lru.size).toBe(10);
});

test('a tenant with little keeps it while another forgets, and comes to its share where the others filled it all', () => {
  const { lru, fill, kept } = setUp();
  fill('small', 2);
  fill('large', 100);
  expect(kept('small')).toEqual([0, 1]);
  expect(kept('large')).toEqual([92, 93, 94, 95, 96, 97, 98, 99]);
  fill('late', 100);
  expect(kept('small')).toEqual([0, 1]);
  expect(kept('large')).toEqual([96, 97, 98, 99]);
  expect(kept('late')).toEqual([96, 97, 98, 99]);
  expect(lru.size).toBe(10);
});

test('a key is a tenant’s own, and one that is set again is one entry', () => {
  const { lru } = setUp();
  lru.set('a', 1, 'one');
  lru.set('a', 1, 'another');
  expect(lru.get('a', 1)).toBe('another');
  expect(lru.get('b', 1)).toBeUndefined();
  expect(lru.size).toBe(1);
});

test('what went idle is gone, and gives way before anything else of its tenant', () => {
  const { clock, lru, fill, kept } = setUp();
  fill('a', 4);
  clock.advance(1_001);
  expect(kept('a')).toEqual([]);
  expect(lru.size).toBe(0);
  fill('a', 8);
  clock.advance(1_001);
  lru.set('a', 8, 'a8');
  fill('b', 4);
  expect(kept('b')).toEqual([0, 1, 2, 3]);
  expect(lru.size).toBe(5);
  expect(kept('a')).toEqual([8]);
});

test('what grows is bounded together too: who has most gives way, and what is in use stays', () => {
  const evicted: string[] = [];
  const lru = new FairLru<string, { chars: number }>({
    countMax: 100,
    idleMs: 1_000,
    clock: new FakeClock(),
    weight: { max: 10, of: ({ chars }) => chars },
    onEvict: (key, _value, reason) => evicted.push(`${key} ${reason}`),
  });
  lru.set('small', 's', { chars: 2 });
  for (const key of ['a', 'b']) lru.set('large', key, { chars: 4 });
  const grown = { chars: 1 };
  lru.set('other', 'o', grown);
  expect([lru.weight, evicted]).toEqual([7, ['a memory']]);
  grown.chars = 20;
  lru.reweigh('other', 'o', grown, 19);
  expect([[...lru.entries()], lru.weight]).toEqual([[['o', grown]], 20]);
  expect(evicted).toEqual(['a memory', 'b memory', 's memory']);
  expect([lru.delete('other', 'o'), lru.delete('other', 'o'), lru.size, lru.weight]).toEqual([
    true,
    false,
    0,
    0,
  ]);
});
