import { describe, expect, it } from 'vitest';
import type { AllowedHours } from '#contracts';
import { isWithinAllowedHours, nextAllowedMs } from './allowed-hours.js';

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];
const WEEKDAYS = [1, 2, 3, 4, 5];
const FRIDAY = 5;
const SUNDAY = 7;

const hours = (time_zone: string, days: number[], from: string, to: string): AllowedHours => ({
  time_zone,
  days,
  from,
  to,
});
const within = (given: AllowedHours, instant: string): boolean =>
  isWithinAllowedHours(given, Date.parse(instant));
const next = (given: AllowedHours, instant: string): string | null => {
  const ms = nextAllowedMs(given, Date.parse(instant));
  return ms === null ? null : new Date(ms).toISOString();
};

describe('isWithinAllowedHours', () => {
  it('begins at `from` and ends before `to`, by the wall clock of the zone', () => {
    const office = hours('Europe/Zurich', WEEKDAYS, '09:00', '17:30');
    // Friday 30 January 2026, UTC+1.
    expect(within(office, '2026-01-30T07:59:59.999Z')).toBe(false);
    expect(within(office, '2026-01-30T08:00:00.000Z')).toBe(true);
    expect(within(office, '2026-01-30T16:29:59.999Z')).toBe(true);
    expect(within(office, '2026-01-30T16:30:00.000Z')).toBe(false);
    expect(within(office, '2026-01-31T10:00:00.000Z')).toBe(false);
    // Summer, UTC+2.
    expect(within(office, '2026-07-31T07:00:00.000Z')).toBe(true);
    expect(within(office, '2026-07-31T15:30:00.000Z')).toBe(false);
  });

  it('counts the day where the wall stands, not in UTC', () => {
    const monday = hours('Pacific/Auckland', [1], '00:00', '12:00');
    expect(within(monday, '2026-02-01T11:00:00Z')).toBe(true);
    expect(within(monday, '2026-02-02T11:00:00Z')).toBe(false);
    expect(within(hours('Asia/Kathmandu', EVERY_DAY, '05:45', '05:46'), '2026-02-02T00:00:00Z')).toBe(true);
  });

  it('lets a window across midnight belong to the day it began', () => {
    const night = hours('UTC', [FRIDAY], '22:00', '06:00');
    expect(within(night, '2026-01-30T21:59:00Z')).toBe(false);
    expect(within(night, '2026-01-30T22:00:00Z')).toBe(true);
    expect(within(night, '2026-01-31T05:59:00Z')).toBe(true);
    expect(within(night, '2026-01-31T06:00:00Z')).toBe(false);
    expect(within(night, '2026-01-30T03:00:00Z')).toBe(false);
    const sunday = hours('UTC', [SUNDAY], '22:00', '06:00');
    expect(within(sunday, '2026-02-02T05:00:00Z')).toBe(true);
  });

  it('lasts a whole day when it ends when it began', () => {
    const round = hours('UTC', [FRIDAY], '09:00', '09:00');
    expect(within(round, '2026-01-30T08:59:00Z')).toBe(false);
    expect(within(round, '2026-01-30T09:00:00Z')).toBe(true);
    expect(within(round, '2026-01-31T08:59:00Z')).toBe(true);
    expect(within(round, '2026-01-31T09:00:00Z')).toBe(false);
  });

  it('is shorter over a skipped hour and longer over a repeated one', () => {
    const early = hours('Europe/Zurich', [SUNDAY], '01:30', '03:30');
    const minutes = (day: string): number =>
      Array.from(
        { length: 24 * 60 },
        (_, minute) => Date.parse(`${day}T00:00:00Z`) + (minute - 120) * 60_000,
      ).filter((ms) => isWithinAllowedHours(early, ms)).length;
    expect(minutes('2026-03-22')).toBe(120);
    // 02:00 -> 03:00
    expect(minutes('2026-03-29')).toBe(60);
    // 03:00 -> 02:00
    expect(minutes('2026-10-25')).toBe(180);
  });

  it('answers for many zones in turn, and twice the same within a minute', () => {
    for (const zone of Intl.supportedValuesOf('timeZone').slice(0, 100)) {
      const always = hours(zone, EVERY_DAY, '00:00', '00:00');
      expect(within(always, '2026-01-30T10:00:01Z')).toBe(true);
      expect(within(always, '2026-01-30T10:00:59Z')).toBe(true);
    }
    expect(() => within(hours('Mars/Olympus', EVERY_DAY, '00:00', '00:00'), '2026-01-30T10:00:00Z')).toThrow(
      RangeError,
    );
  });
});

describe('nextAllowedMs', () => {
  it('is now while it is allowed, else the next opening', () => {
    const office = hours('Europe/Zurich', WEEKDAYS, '09:00', '17:30');
    expect(next(office, '2026-01-30T10:00:00.123Z')).toBe('2026-01-30T10:00:00.123Z');
    expect(next(office, '2026-01-30T07:59:59.999Z')).toBe('2026-01-30T08:00:00.000Z');
    // Over the weekend.
    expect(next(office, '2026-01-30T16:30:00Z')).toBe('2026-02-02T08:00:00.000Z');
    // Over the weekend and into summer.
    expect(next(office, '2026-03-27T18:00:00Z')).toBe('2026-03-30T07:00:00.000Z');
    expect(next(hours('UTC', [FRIDAY], '22:00', '06:00'), '2026-01-31T06:00:00Z')).toBe(
      '2026-02-06T22:00:00.000Z',
    );
  });

  it('opens with the change of the clock when its beginning is skipped', () => {
    const early = hours('Europe/Zurich', [SUNDAY], '02:30', '04:00');
    expect(next(early, '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
  });

  it('is in the week after when the whole window is skipped', () => {
    const skipped = hours('Europe/Zurich', [SUNDAY], '02:15', '02:45');
    expect(next(skipped, '2026-03-28T12:00:00Z')).toBe('2026-04-05T00:15:00.000Z');
  });

  it('opens again when the clock goes back into it', () => {
    const repeated = hours('Europe/Zurich', [SUNDAY], '02:00', '02:30');
    expect(next(repeated, '2026-10-25T00:30:00Z')).toBe('2026-10-25T01:00:00.000Z');
  });

  it('is null when no window comes', () => {
    expect(next(hours('UTC', [], '09:00', '10:00'), '2026-01-30T10:00:00Z')).toBeNull();
  });
});
