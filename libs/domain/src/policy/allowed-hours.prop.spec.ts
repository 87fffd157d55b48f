import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isWithinAllowedHours, nextAllowedMs } from './allowed-hours.js';

it('finds the first minute that is allowed, in any zone and around any change of the clock', () => {
  const zones = [
    'UTC',
    'Europe/Zurich',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Beirut',
    'Pacific/Apia',
  ];
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 15, 30, 59))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const given = fc.record({
    time_zone: fc.constantFrom(...zones),
    days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
    from: time,
    to: time,
  });
  const changes = ['2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01'];
  const start = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -1_500, max: 1_500 }))
    .map(([day, minutes]) => Date.parse(`${day}T00:00:00Z`) + minutes * 60_000);
  fc.assert(
    fc.property(given, start, (policy, nowMs) => {
      const found = nextAllowedMs(policy, nowMs);
      expect(found).not.toBeNull();
      expect(isWithinAllowedHours(policy, found as number)).toBe(true);
      // Every quarter before it is closed; the times above are on quarters but for :59, which the last minute covers.
      for (let ms = nowMs; ms < (found as number); ms += 15 * 60_000)
        expect(isWithinAllowedHours(policy, ms)).toBe(false);
      if ((found as number) > nowMs)
        expect(isWithinAllowedHours(policy, (found as number) - 60_000)).toBe(false);
    }),
    { numRuns: 60 },
  );
});
