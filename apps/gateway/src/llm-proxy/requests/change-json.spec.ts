import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeJson } from './change-json.js';

const MARK = 'mark-1:';
const added = (json: string): string =>
  changeJson(Buffer.from(json), MARK, (value) => ({ ...(value as object), told: 'Stop, 1.0.' }));

describe('a change to JSON', () => {
  it.each([
    '12345678901234567890',
    '-9223372036854775808',
    '1.0',
    '-0',
    '1E400',
    '2e-3',
    '0.1000',
    '7',
    '[1.0,{"1.0":-1.50}]',
    '"1.0 \\"2.0\\" é \\\\"',
  ])('leaves %s as it is', (written) => {
    expect(added(`{"a":${written},"b":[],"c":${written}}`)).toBe(
      `{"a":${written},"b":[],"c":${written},"told":"Stop, 1.0."}`,
    );
  });

  it('is made behind a byte order mark, too, and leaves the mark out', () => {
    expect(added('\ufeff{"a":1.0}')).toBe('{"a":1.0,"told":"Stop, 1.0."}');
  });

  it('keeps whatever JSON says', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify({ ...value, told: 0 });
        expect(JSON.parse(added(json))).toEqual({ ...JSON.parse(json), told: 'Stop, 1.0.' });
      }),
    );
  });

  it('keeps as many numbers as there are', () => {
    const rows = Array.from({ length: 100_000 }, (_, index) => `${index}.0`).join(',');
    expect(added(`{"rows":[${rows}]}`)).toBe(`{"rows":[${rows}],"told":"Stop, 1.0."}`);
  });
});
