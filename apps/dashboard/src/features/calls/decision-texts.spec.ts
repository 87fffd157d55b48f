import { expect, it } from 'vitest';
import { DECISIONS, whatBecameOf } from './decision-texts';

it('tells once that a client left, and who left where it was the gateway', () => {
  const left = 'The client left before its answer was complete.';
  const shutDown = 'The gateway shut down before the answer was complete.';
  expect(whatBecameOf({ decision: 'aborted', detail: left })).toBe(left);
  expect(whatBecameOf({ decision: 'aborted', detail: shutDown })).toBe(shutDown);
  expect(whatBecameOf({ decision: 'aborted', detail: null })).toContain('hung up');
});

it.each(['terminated', 'session_capped'] as const)(
  'says of %s, an agent’s badge too, that a session was',
  (decision) => {
    expect(DECISIONS[decision].label).toMatch(/^Session /);
  },
);

it('adds what is known besides', () => {
  const detail = 'Kill switch: score 13 is above 10.';
  expect(whatBecameOf({ decision: 'killed', detail })).toMatch(/^The kill switch stopped it .+ score 13/);
  expect(whatBecameOf({ decision: 'hinted', detail: null })).toBe(
    'A hint was added before it went to the upstream.',
  );
});
