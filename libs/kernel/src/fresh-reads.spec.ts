import { describe, expect, it } from 'vitest';
import { deferred } from './deferred.js';
import { FreshReads } from './fresh-reads.js';

/** Reads of a value, each over when it is told. */
function slowly(value: () => string) {
  const reads: (() => void)[] = [];
  const read = async (): Promise<string> => {
    const seen = value();
    const told = deferred();
    reads.push(told.resolve);
    await told.promise;
    return seen;
  };
  return { reads, read };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('FreshReads', () => {
  it('reads again what has changed meanwhile, for all who read it, and nothing else', async () => {
    const fresh = new FreshReads<string>();
    let value = 'old';
    const { reads, read } = slowly(() => value);
    const both = [fresh.read('a', read), fresh.read('a', read)];
    const other = fresh.read('b', read);
    value = 'new';
    fresh.changed('a');
    for (const end of reads.splice(0)) end();
    await turn();
    expect(reads).toHaveLength(2);
    for (const end of reads.splice(0)) end();
    expect(await Promise.all([...both, other])).toEqual(['new', 'new', 'old']);
  });

  it('reads once more for a change in each reading, and not for one before it', async () => {
    const fresh = new FreshReads<string>();
    fresh.changed('a');
    let value = 1;
    const { reads, read } = slowly(() => String(value));
    const result = fresh.read('a', read);
    for (let change = 0; change < 3; change += 1) {
      value += 1;
      fresh.changed('a');
      reads.pop()?.();
      await turn();
    }
    reads.pop()?.();
    expect(await result).toBe('4');
  });

  it('rejects as the read does, and the next one is as good as new', async () => {
    const fresh = new FreshReads<string>();
    await expect(fresh.read('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await fresh.read('a', async () => 'here')).toBe('here');
  });
});
