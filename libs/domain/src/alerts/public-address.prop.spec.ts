import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './public-address.js';

const hex = (high: number, low: number): string => ((high << 8) | low).toString(16);

describe('an IPv4 address inside an IPv6 one', () => {
  it('is as public as it is by itself, however it is wrapped', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const wrapped = [
          `::ffff:${address}`,
          `::ffff:${hex(a, b)}:${hex(c, d)}`,
          `64:ff9b::${address}`,
          `2002:${hex(a, b)}:${hex(c, d)}::1`,
          `2606:4700::5efe:${address}`,
        ];
        for (const one of wrapped) expect(isPublicAddress(one), one).toBe(isPublicAddress(address));
      }),
    );
  });

  it('is judged for any IPv6 address without throwing', () => {
    fc.assert(fc.property(fc.ipV6(), (address) => typeof isPublicAddress(address) === 'boolean'));
  });
});
