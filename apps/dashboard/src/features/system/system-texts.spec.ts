import { describe, expect, it } from 'vitest';
import { checkLines, reasonLines, sidecarText, siteLines, sumOf, uptimeText } from './system-texts';

describe('sidecarText', () => {
  it.each(['starting', 'down'] as const)('says of one that is %s that calls go on', (state) => {
    expect(sidecarText({ state, is_supervised: true }).meaning).toContain('Calls go on without it');
  });

  it('says who starts it again', () => {
    expect(sidecarText({ state: 'down', is_supervised: true }).advice).toContain('This gateway');
    expect(sidecarText({ state: 'down', is_supervised: false }).advice).toContain(
      'LOOP_EMBEDDING_SIDECAR_UDS',
    );
    expect(sidecarText({ state: 'serving', is_supervised: false }).advice).toBeNull();
  });
});

describe('the counts of the System page', () => {
  it('lists checks in the order people read them, without those that never came', () => {
    const lines = checkLines({ failed_open: 2, loop: 3, clear: 90, unfit: 0 });
    expect(lines.map(({ label }) => label)).toEqual(['Clear', 'Loop', 'Failed open']);
  });

  it('calls no loop reworded: what is asked again word for word is counted among them', () => {
    expect(checkLines({ loop: 1 })[0]?.note).toBe('The same was asked again, in these words or others.');
  });

  it('lists reasons and sites by how often they came, and what it does not know as it came', () => {
    expect(reasonLines({ timeout: 2, brand_new: 5 }).map(({ label }) => label)).toEqual([
      'brand new',
      'Too slow',
    ]);
    expect(siteLines({ rate_limiter: 1, semantic_loop: 4 }).map(({ key }) => key)).toEqual([
      'semantic_loop',
      'rate_limiter',
    ]);
  });

  it('adds up', () => {
    expect(sumOf({ a: 1, b: 2 })).toBe(3);
    expect(sumOf({})).toBe(0);
    expect([42, 200, 7_300, 200_000].map(uptimeText)).toEqual(['42 s', '3 min', '2 h', '2 d']);
  });
});
