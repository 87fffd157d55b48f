import { describe, expect, test } from 'vitest';
import { FairShare } from './fair-share.js';

function shareOf(max: number) {
  let fullCount = 0;
  const share = new FairShare({ max, onFull: () => (fullCount += 1) });
  return { share, fullCount: () => fullCount };
}

describe('a fair share', () => {
  test('gives one tenant half of the whole and no more', () => {
    const { share, fullCount } = shareOf(10);
    expect(share.take('a', 5)).toBe(true);
    expect(share.take('a', 1)).toBe(false);
    expect(share.take('b', 5)).toBe(true);
    expect([share.taken, fullCount()]).toEqual([10, 1]);
  });

  test('gives nobody more than there is', () => {
    const { share } = shareOf(10);
    share.take('a', 5);
    share.take('b', 4);
    expect(share.take('c', 2)).toBe(false);
    expect(share.take('c', 1)).toBe(true);
  });

  test('has room again for what was given back, and keeps no tenant that has nothing', () => {
    const { share } = shareOf(10);
    share.take('a', 2);
    share.take('a', 3);
    share.giveBack('a', 3);
    expect(share.fits('a', 4)).toBe(false);
    expect(share.fits('a', 3)).toBe(true);
    share.take('c', 1);
    expect(share.tenantCount).toBe(2);
    share.giveBack('a', 2);
    share.giveBack('c', 1);
    expect(share.take('b', 0)).toBe(true);
    expect([share.taken, share.tenantCount]).toEqual([0, 0]);
    expect(share.take('a', 5)).toBe(true);
  });
});
