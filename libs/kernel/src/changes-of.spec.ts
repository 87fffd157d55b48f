import { expect, test } from 'vitest';
import { changesOf } from './changes-of.js';

const BEFORE = { name: 'a', count: 0, list: [1, 2], limit: null, place: { x: 1, y: 2 } };

test.each([{}, { name: undefined }, { ...BEFORE }, { place: { y: 2, x: 1 } }, { absent: null }])(
  '%j changes nothing',
  (patch) => {
    expect(changesOf(patch, BEFORE)).toEqual({});
  },
);

test.each([{ name: 'b' }, { count: null }, { count: false }, { list: [2, 1] }, { limit: 0 }, { absent: '' }])(
  '%j does, whatever else is said with it',
  (patch) => {
    expect(changesOf({ ...BEFORE, absent: undefined, ...patch }, BEFORE)).toEqual(patch);
  },
);
