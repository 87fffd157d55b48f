import { expect, test } from 'vitest';
import { nextTryText } from './next-try-text';

const CLOSED = { state: 'closed', retry_at_ms: null } as const;
const open = (retry_at_ms: number) => ({ state: 'open', retry_at_ms }) as const;

test('a delivery says when it is tried next, itself or through its channel, whichever is later', () => {
  expect(nextTryText(30_000, CLOSED, 500)).toBe('next try in 30 s');
  expect(nextTryText(30_000, undefined, 500)).toBe('next try in 30 s');
  expect(nextTryText(240_000, open(60_000), 0)).toBe('next try in 4 min 0 s');
  expect(nextTryText(14_400_000, CLOSED, 0)).toBe('next try in 4 h 0 min');
  expect(nextTryText(0, open(240_000), 500)).toBe('its channel rests, next try in 4 min 0 s');
});

test('one that is due says so, unless its channel lets one try before the others', () => {
  expect(nextTryText(0, CLOSED, 500)).toBe('due now');
  expect(nextTryText(null, undefined, 500)).toBe('due now');
  expect(nextTryText(0, open(60_000), 60_000)).toBe('waits for its channel');
});
