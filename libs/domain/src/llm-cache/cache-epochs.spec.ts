import { expect, test } from 'vitest';
import { CacheEpochs } from './cache-epochs.js';

test('each end begins another epoch, of that tenant only', () => {
  const epochs = new CacheEpochs();
  const [ours, theirs] = [epochs.of('t'), epochs.of('rival')];
  epochs.end('t');
  const second = epochs.of('t');
  epochs.end('t');
  expect(new Set([ours, second, epochs.of('t')]).size).toBe(3);
  expect(epochs.of('rival')).toBe(theirs);
});

test('past its bound of tenants all of them begin a new one, and none comes back to an old one', () => {
  const epochs = new CacheEpochs(2);
  const seen = new Map(['a', 'b', 'c', 'rival'].map((tenant) => [tenant, [epochs.of(tenant)]]));
  const rivals: number[] = [];
  for (const ended of ['a', 'b', 'c', 'a', 'b', 'c']) {
    const before = epochs.of(ended);
    epochs.end(ended);
    expect(epochs.of(ended)).not.toBe(before);
    for (const [tenant, had] of seen) {
      const now = epochs.of(tenant);
      if (now === had.at(-1)) continue;
      expect(had).not.toContain(now);
      had.push(now);
    }
    rivals.push(seen.get('rival')?.length ?? 0);
  }
  expect(rivals).toEqual([1, 1, 2, 2, 3, 3]);
});
