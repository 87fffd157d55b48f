import { expect, it } from 'vitest';
import type { StoredViolation } from '#contracts';
import { newViolationCount } from './new-violations';

const NOON_MS = Date.UTC(2026, 0, 31, 12);
const refused = (atMs: number, payload: string) =>
  ({ timestamp: new Date(atMs).toISOString(), raw_payload_hash: payload }) as StoredViolation;
const newest = refused(NOON_MS, 'newest');
const older = refused(NOON_MS - 5_000, 'older');

it('counts what came after the newest row, also in the same moment and by a clock that was set back', () => {
  const live = [older, newest, refused(NOON_MS, 'same moment'), refused(NOON_MS - 3_600_000, 'set back')];
  expect(newViolationCount(live, newest)).toBe(2);
  expect(newViolationCount([older, newest], newest)).toBe(0);
});

it('goes by the clock where the newest row is not among what is live, and counts all where there is no row', () => {
  expect(newViolationCount([older, refused(NOON_MS + 1, 'later')], newest)).toBe(1);
  expect(newViolationCount([older, newest], undefined)).toBe(2);
});
