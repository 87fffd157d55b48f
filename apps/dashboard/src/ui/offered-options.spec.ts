import { describe, expect, it } from 'vitest';
import { offeredOptions } from './offered-options';

const any = { value: '', label: 'Any agent' };
const values = ['a', 'b', 'c', 'd'];
const offer = (chosen: string | undefined, countMax: number) =>
  offeredOptions({ any, values, chosen, countMax, elsewhere: 'found by the search' });

describe('offeredOptions', () => {
  it('offers all there are while they are few', () => {
    expect(offer(undefined, 4).map(({ value }) => value)).toEqual(['', 'a', 'b', 'c', 'd']);
  });

  it('says how many it leaves out, and offers what is chosen all the same', () => {
    const options = offer('d', 2);
    expect(options.slice(0, -1).map(({ value }) => value)).toEqual(['', 'd', 'a', 'b']);
    expect(options.at(-1)).toMatchObject({ label: 'and 1 more, found by the search', disabled: true });
  });
});
