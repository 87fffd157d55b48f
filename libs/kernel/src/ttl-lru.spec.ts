import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { TtlLru } from './ttl-lru.js';

const create = (countMax: number, idleMs = Number.POSITIVE_INFINITY) => {
  const clock = new FakeClock(1_000);
  const evicted: string[] = [];
  const onEvict = (key: string, value: number, reason: string) => evicted.push(`${key}=${value} ${reason}`);
  return { clock, evicted, lru: new TtlLru<string, number>({ countMax, idleMs, clock, onEvict }) };
};

describe('TtlLru', () => {
  it('evicts the least recently touched when it is full', () => {
    const { lru, evicted } = create(2);
    lru.set('a', 1);
    lru.set('b', 2);
    lru.get('a');
    lru.set('c', 3);
    expect(evicted).toEqual(['b=2 capacity']);
    expect([...lru.entries()]).toEqual([
      ['a', 1],
      ['c', 3],
    ]);
  });

  it('does not count peeking as touching', () => {
    const { lru, evicted } = create(2);
    lru.set('a', 1);
    lru.set('b', 2);
    expect(lru.peek('a')).toBe(1);
    lru.set('c', 3);
    expect(evicted).toEqual(['a=1 capacity']);
  });

  it('loses what is idle for longer than it may, not before', () => {
    const { lru, clock, evicted } = create(9, 100);
    lru.set('a', 1);
    lru.set('b', 2);
    clock.advance(100);
    expect([lru.peek('a'), lru.get('b')]).toEqual([1, 2]);
    clock.advance(1);
    expect(lru.peek('a')).toBeUndefined();
    expect(evicted).toEqual([]);
    expect(lru.get('a')).toBeUndefined();
    expect(evicted).toEqual(['a=1 idle']);
  });

  it('loses nothing to a wall clock that is set forward, and keeps nothing for one that is set back', () => {
    const { lru, clock, evicted } = create(9, 100);
    lru.set('a', 1);
    clock.set(1_000_000);
    expect([lru.peek('a'), lru.get('a')]).toEqual([1, 1]);
    clock.set(0);
    clock.advance(101);
    expect(lru.peek('a')).toBeUndefined();
    expect(lru.evictIdle()).toBe(1);
    expect(evicted).toEqual(['a=1 idle']);
  });

  it('evicts what is idle on request, oldest first, at most so many', () => {
    const { lru, clock, evicted } = create(9, 100);
    for (const [index, key] of ['a', 'b', 'c'].entries()) lru.set(key, index);
    clock.advance(101);
    lru.get('c');
    lru.set('d', 3);
    expect(lru.evictIdle(1)).toBe(0);
    expect(evicted).toEqual(['c=2 idle', 'a=0 idle', 'b=1 idle']);
  });

  it('does not report what was deleted or cleared', () => {
    const { lru, evicted } = create(9);
    lru.set('a', 1);
    lru.set('b', 2);
    expect([lru.delete('a'), lru.delete('a')]).toEqual([true, false]);
    lru.clear();
    expect([lru.size, evicted.length, lru.get('b')]).toEqual([0, 0, undefined]);
    lru.set('c', 3);
    expect([...lru.entries()]).toEqual([['c', 3]]);
  });

  describe('by weight', () => {
    interface Load {
      weight: number;
    }
    const createWeighed = (max: number) => {
      const evicted: string[] = [];
      const lru = new TtlLru<string, Load>({
        countMax: 4,
        idleMs: Number.POSITIVE_INFINITY,
        clock: new FakeClock(1_000),
        weight: { max, of: ({ weight }) => weight },
        onEvict: (key, _load, reason) => evicted.push(`${key} ${reason}`),
      });
      const grow = (load: Load, change: number) => {
        load.weight += change;
        lru.reweigh(load, change);
      };
      return { lru, evicted, grow };
    };

    it('evicts the least recently touched until the rest is light enough, but never what is in use', () => {
      const { lru, evicted, grow } = createWeighed(10);
      const loads = [4, 3, 2].map((weight) => ({ weight }));
      for (const [index, load] of loads.entries()) lru.set('abc'[index] as string, load);
      grow(loads[2] as Load, 1);
      expect([lru.weight, evicted.length]).toEqual([10, 0]);
      grow(loads[0] as Load, 3);
      expect(evicted).toEqual(['b memory']);
      grow(loads[0] as Load, 100);
      expect(evicted).toEqual(['b memory', 'c memory']);
      expect([lru.size, lru.weight]).toEqual([1, 107]);
      lru.clear();
      expect(lru.weight).toBe(0);
    });

    it('knows what all weigh together whatever happens to them', () => {
      const operation = fc.record({
        kind: fc.constantFrom('set', 'grow', 'delete', 'get'),
        key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
        by: fc.integer({ min: 0, max: 9 }),
      });
      fc.assert(
        fc.property(fc.array(operation), (operations) => {
          const { lru, grow } = createWeighed(12);
          for (const { kind, key, by } of operations) {
            const load = lru.get(key);
            if (kind === 'set') lru.set(key, { weight: by });
            else if (kind === 'delete') lru.delete(key);
            else if (kind === 'grow' && load !== undefined) grow(load, by - Math.min(by, load.weight));
            const held = [...lru.entries()].map(([, { weight }]) => weight);
            expect(lru.weight).toBe(held.reduce((sum, weight) => sum + weight, 0));
            if (held.length > 1) expect(lru.weight).toBeLessThanOrEqual(12);
          }
        }),
      );
    });
  });

  it('refuses to hold nothing', () => {
    expect(() => create(0)).toThrow(RangeError);
    expect(() => create(Number.NaN)).toThrow(RangeError);
  });

  it('behaves like an ordered list of entries with the time of their last touch', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), key, value: fc.integer() }),
      fc.record({ kind: fc.constant('get' as const), key }),
      fc.record({ kind: fc.constant('peek' as const), key }),
      fc.record({ kind: fc.constant('delete' as const), key }),
      fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 80 }) }),
      fc.record({ kind: fc.constant('evictIdle' as const) }),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(operation, { maxLength: 80, size: 'max' }),
        (countMax, operations) => {
          const idleMs = 100;
          const { lru, clock, evicted } = create(countMax, idleMs);
          let model: { key: string; value: number; touchedMs: number }[] = [];
          const out: string[] = [];
          const isIdle = (entry: { touchedMs: number }) => clock.nowMs() - entry.touchedMs > idleMs;
          const evict = (entry: (typeof model)[number], reason: string) => {
            model = model.filter((other) => other !== entry);
            out.push(`${entry.key}=${entry.value} ${reason}`);
          };
          const evictIdle = (max: number) => {
            for (let count = 0; count < max && model[0] && isIdle(model[0]); count += 1)
              evict(model[0], 'idle');
          };
          for (const each of operations) {
            if (each.kind === 'advance') clock.advance(each.ms);
            else if (each.kind === 'evictIdle') {
              lru.evictIdle();
              evictIdle(Number.POSITIVE_INFINITY);
            } else {
              const entry = model.find((one) => one.key === each.key);
              const touch = (touched: (typeof model)[number]) => {
                model = [...model.filter((other) => other !== touched), touched];
                touched.touchedMs = clock.nowMs();
              };
              if (each.kind === 'peek')
                expect(lru.peek(each.key)).toBe(entry && !isIdle(entry) ? entry.value : undefined);
              else if (each.kind === 'delete') {
                expect(lru.delete(each.key)).toBe(entry !== undefined);
                model = model.filter((other) => other !== entry);
              } else if (each.kind === 'get') {
                expect(lru.get(each.key)).toBe(entry && !isIdle(entry) ? entry.value : undefined);
                if (entry && isIdle(entry)) evict(entry, 'idle');
                else if (entry) touch(entry);
              } else {
                lru.set(each.key, each.value);
                if (entry) {
                  entry.value = each.value;
                  touch(entry);
                } else {
                  evictIdle(2);
                  if (model.length >= countMax && model[0]) evict(model[0], 'capacity');
                  touch({ key: each.key, value: each.value, touchedMs: 0 });
                }
              }
            }
            expect([...lru.entries()]).toEqual(model.map((one) => [one.key, one.value]));
            expect(lru.size).toBe(model.length);
            expect(evicted).toEqual(out);
          }
        },
      ),
    );
  });
});
