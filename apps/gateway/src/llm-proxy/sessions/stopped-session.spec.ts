import { expect, test } from 'vitest';
import { holdExpired, terminated } from './stopped-session.js';

const PAUSED = 'This session is paused; try again later.';
const ENDED = 'This session has ended. Do not retry in it; another session may begin.';

test.each([
  [null, PAUSED],
  [' \n', PAUSED],
  ['let me look', `${PAUSED} Reason: let me look`],
  ['two\nlines', `${PAUSED} Reason: two lines`],
  ['hitl_required', `${PAUSED} Reason: the agent asks for a person`],
  ['x'.repeat(501), `${PAUSED} Reason: ${'x'.repeat(499)}…`],
])('a pause for the reason %j is told in words, on one line of bounded length', (reason, detail) => {
  expect(holdExpired({ reason })).toMatchObject({ code: 'hold_expired', detail, shouldRetry: true });
});

test('whoever is refused for good is told why, too', () => {
  const detail = `${ENDED} Reason: wrong customer`;
  expect(terminated({ reason: 'wrong customer' })).toMatchObject({ detail, shouldRetry: false });
});
