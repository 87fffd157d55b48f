import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Link, LinkedList } from './linked-list.js';

describe('LinkedList', () => {
  it('behaves like an array that is added to at its end and taken from anywhere', () => {
    const operation = fc.oneof(
      fc.record({ add: fc.integer() }),
      fc.record({ deleteAt: fc.nat({ max: 30 }) }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 100, size: 'max' }), (operations) => {
        const list = new LinkedList<number>();
        const added: Link<number>[] = [];
        const isIn: boolean[] = [];
        for (const each of operations) {
          if ('add' in each) {
            added.push(list.add(each.add));
            isIn.push(true);
          } else {
            const link = added[each.deleteAt];
            if (link === undefined) continue;
            list.delete(link);
            isIn[each.deleteAt] = false;
          }
          const model = added.filter((_, at) => isIn[at]).map(({ value }) => value);
          expect([...list]).toEqual(model);
          expect(list.size).toBe(model.length);
          expect(list.oldest?.value).toBe(model[0]);
        }
      }),
    );
  });

  it('shows each that is in when the walk begins, unless it is taken out before its turn', () => {
    const list = new LinkedList<string>();
    const [, second] = ['a', 'b', 'c'].map((value) => list.add(value));
    const seen: string[] = [];
    for (const value of list) {
      seen.push(value);
      if (value !== 'a') continue;
      list.delete(second as Link<string>);
      list.add('d');
    }
    expect(seen).toEqual(['a', 'c']);
    expect([...list]).toEqual(['a', 'c', 'd']);
  });

  it('leaves nothing behind in the old generation when its members come and go', () => {
    setFlagsFromString('--expose-gc');
    const collectAll: () => void = runInNewContext('gc');
    const list = new LinkedList<object>();
    const addSome = () => Array.from({ length: 32 }, () => list.add({ body: new Array(100).fill(0) }));
    let links = addSome();
    collectAll();
    collectAll();
    const before = oldBytes();
    const rounds = 3_000;
    for (let round = 0; round < rounds; round += 1) {
      for (const link of links) list.delete(link);
      links = addSome();
    }
    // The tables of a Set: more than 40.
    expect((oldBytes() - before) / (rounds * links.length)).toBeLessThan(10);
  });
});

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ??
  Number.NaN;
