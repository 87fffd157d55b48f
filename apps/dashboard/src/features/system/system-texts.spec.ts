import { describe, expect, it } from 'vitest';
import {
  checkLines,
  notReadyText,
  reasonLines,
  sidecarText,
  siteLines,
  sumOf,
  uptimeText,
} from './system-texts';

type Sidecar = Parameters<typeof sidecarText>[0];
const text = (over: Partial<Sidecar>) =>
  sidecarText({ state: 'serving', is_supervised: true, store_problem: null, ...over });

describe('sidecarText', () => {
  it.each(['starting', 'down'] as const)('says of one that is %s that calls go on', (state) => {
    expect(text({ state }).meaning).toContain('Calls go on without it');
  });

  it('says who starts it again', () => {
    expect(text({ state: 'down', is_supervised: true }).advice).toContain('This gateway');
    expect(text({ state: 'down', is_supervised: false }).advice).toContain('LOOP_EMBEDDING_SIDECAR_UDS');
    expect(text({ state: 'serving', is_supervised: false }).advice).toBeNull();
  });

  it('praises none whose store is away, and names the setting that leads to it', () => {
    const store_problem = 'Redis is not connected';
    const own = text({ state: 'serving', is_supervised: true, store_problem });
    expect([own.label, own.tone]).toEqual(['Serving, without its store', 'warning']);
    expect(own.meaning).toContain('Calls go on without the check');
    expect(own.advice).toContain('LOOP_EMBEDDING_REDIS_URL');
    const others = text({ state: 'serving', is_supervised: false, store_problem });
    expect(others.advice).toContain('REDIS_URL of the sidecar');
  });
});

describe('notReadyText', () => {
  it('says of a store that takes nothing which one it is, and what can be done all the same', () => {
    const text = notReadyText('store: store_full');
    expect(text).toContain('(store_full)');
    expect(text).toContain('You can still stop an agent, or all of them');
  });

  it('says of anything else what it is', () => {
    expect(notReadyText('draining')).toContain('ending');
    expect(notReadyText('no file descriptors left')).toContain('no file descriptors left');
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

  it('says of a check that failed open, and of what was not there, no more than is known', () => {
    expect(checkLines({ failed_open: 1 })[0]?.note).not.toContain('in time');
    expect(reasonLines({ unavailable: 1 })[0]?.note).toContain('Redis');
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

  it('tells why rates and budgets were not enforced, each reason by what Redis did', () => {
    const noteOf = (reasons: Parameters<typeof siteLines>[1]) =>
      siteLines({ rate_limiter: 3 }, reasons)[0]?.note;
    expect(noteOf({ reply: 3 })).toBe('Rates and budgets were not enforced: Redis answered with an error.');
    expect(noteOf({ disconnected: 1, timeout: 2 })).toBe(
      'Rates and budgets were not enforced: Redis did not answer in time (2), Redis was not connected (1).',
    );
    expect(noteOf({})).toBe('Rates and budgets were not enforced.');
  });

  it('adds up', () => {
    expect(sumOf({ a: 1, b: 2 })).toBe(3);
    expect(sumOf({})).toBe(0);
    expect([42, 200, 7_300, 200_000].map(uptimeText)).toEqual(['42 s', '3 min', '2 h', '2 d']);
  });
});
