import { expect, test } from 'vitest';
import type { AlertChannel, AlertDelivery } from '#contracts';
import { nextTryText, tryAheadOf } from './next-try-text';

const CLOSED = { state: 'closed', retry_at_ms: null } as const;
const open = (retry_at_ms: number) => ({ state: 'open', retry_at_ms }) as const;

test('a delivery says when it is tried next, itself or through its channel, whichever is later', () => {
  expect(nextTryText(30_000, CLOSED, 500)).toBe('next try in 30 s');
  expect(nextTryText(30_000, undefined, 500)).toBe('next try in 30 s');
  expect(nextTryText(240_000, open(60_000), 0)).toBe('next try in 4 min 0 s');
  expect(nextTryText(14_400_000, CLOSED, 0)).toBe('next try in 4 h 0 min');
  expect(nextTryText(0, open(240_000), 500)).toBe('its channel is failing, next try in 4 min 0 s');
  const resting = { state: 'resting', retry_at_ms: 240_000 } as const;
  expect(nextTryText(0, resting, 500)).toBe('its channel rests, next try in 4 min 0 s');
});

const delivery = (delivery_id: string, next_attempt_at_ms: number, agent_id = 'a') =>
  ({
    delivery_id,
    channel_id: 'chn',
    state: 'pending',
    next_attempt_at_ms,
    notice: { rule_id: 'rule', agent_id },
  }) as AlertDelivery;

test('one that waits for another of its alert says that, and until when', () => {
  const [began, over, elsewhere] = [delivery('1', 60_000), delivery('2', 0), delivery('3', 0, 'b')];
  const aheadOf = tryAheadOf([over, elsewhere, began]);
  const text = (
    one: AlertDelivery,
    circuit: Pick<AlertChannel['circuit'], 'state' | 'retry_at_ms'> = CLOSED,
  ) => nextTryText(one.next_attempt_at_ms, circuit, 500, aheadOf(one));
  expect(text(over)).toBe('waits for an earlier notice, next try in 1 min 0 s');
  expect(text(began)).toBe('next try in 1 min 0 s');
  expect(text(elsewhere)).toBe('due now');
  expect(text(over, open(240_500))).toBe('its channel is failing, next try in 4 min 0 s');
  expect(tryAheadOf([over, { ...began, state: 'dead' }])(over)).toBeNull();
});

test('one that is due says so, unless its channel lets one try before the others', () => {
  expect(nextTryText(0, CLOSED, 500)).toBe('due now');
  expect(nextTryText(null, undefined, 500)).toBe('due now');
  expect(nextTryText(0, open(60_000), 60_000)).toBe('waits for its channel');
});
