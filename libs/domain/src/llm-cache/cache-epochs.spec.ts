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
  const tenants = ['a', 'b', 'c', 'd'];
  const seen = tenants.map((tenant) => new Set([epochs.of(tenant)]));
  for (const ended of ['a', 'b', 'c', 'a', 'd']) {
    epochs.end(ended);
    const own = seen[tenants.indexOf(ended)];
    expect(own?.has(epochs.of(ended))).toBe(false);
    for (const [at, tenant] of tenants.entries()) seen[at]?.add(epochs.of(tenant));
  }
  expect(seen.every((epochsSeen) => epochsSeen.size > 1)).toBe(true);
});
