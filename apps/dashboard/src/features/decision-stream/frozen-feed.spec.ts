import { describe, expect, it } from 'vitest';
import type { StepView } from '#contracts';
import { arrivedSince, freeze, RUNNING } from './frozen-feed';

const step = (seq: number) => ({ gateway: { seq } }) as StepView;
const steps = [1, 2, 3, 4, 5].map(step);
const all = () => true;

describe('a frozen feed', () => {
  it('counts what arrived since, as the filter sees it', () => {
    const frozen = freeze(RUNNING, steps.slice(0, 2));
    expect(arrivedSince(frozen, steps, all)).toEqual({ count: 3, isLowerBound: false });
    expect(arrivedSince(frozen, steps, ({ gateway }) => gateway.seq === 4).count).toBe(1);
  });

  it('stays what it was when frozen again', () => {
    const frozen = freeze(RUNNING, steps.slice(0, 1));
    expect(freeze(frozen, steps)).toBe(frozen);
  });

  it('says "at least" once what it holds has left the live feed', () => {
    const frozen = freeze(RUNNING, steps.slice(0, 1));
    expect(arrivedSince(frozen, steps.slice(2), all)).toEqual({ count: 3, isLowerBound: true });
  });

  it('counts nothing while it runs', () => {
    expect(arrivedSince(RUNNING, steps, all).count).toBe(0);
  });
});
