import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limitKey } from './limit-key.js';

const sliding = (key: string): string => limitKey({ key, kind: 'sliding' });

it('puts all counters of an owner under one hash tag, and a calendar bucket under its start', () => {
  expect(sliding('default\0agent-1\0requests_per_minute')).toBe(
    'observatory:limits:{default%0agent-1}:requests_per_minute:slots',
  );
  expect(limitKey({ key: 'default\0agent-1\0budget_day', kind: 'calendar', startMs: 86_400_000 })).toBe(
    'observatory:limits:{default%0agent-1}:budget_day:86400000',
  );
  expect(sliding('alone')).toBe('observatory:limits:{alone}::slots');
});

it('never gives two counters one key, nor an owner a tag that ends early', () => {
  const text = fc.string({
    unit: fc.constantFrom('{', '}', '%', '0', '7', 'd', ':', '\0', 'a'),
    maxLength: 8,
  });
  fc.assert(
    fc.property(text, text, (one, other) => {
      if (one !== other && one.includes('\0') && other.includes('\0'))
        expect(sliding(one)).not.toBe(sliding(other));
      expect(sliding(one).match(/[{}]/g)).toEqual(['{', '}']);
      expect(sliding(one)).not.toContain('\0');
    }),
    { numRuns: 1_000 },
  );
});
