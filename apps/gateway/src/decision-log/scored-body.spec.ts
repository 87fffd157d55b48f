import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDecisionLog } from '#domain/decision-log';
import { buildDecisionLog } from '#testing';
import { withScore } from './scored-body.js';

/** What is stored must be the log with its score, whatever the message looked like. */
function expectScored(message: object): void {
  const parsed = parseDecisionLog(message);
  if (!parsed.ok) throw new Error(parsed.detail);
  const { log } = parsed;
  log.cognition.entropy_score = 0.3333;
  log.cognition.entropy_severity = 'warning';
  expect(JSON.parse(withScore(JSON.stringify(message), log))).toEqual(JSON.parse(JSON.stringify(log)));
}

/** The same log with `action` written before `cognition`. */
function inputFirst({ action, ...rest }: ReturnType<typeof buildDecisionLog>): object {
  return { action: { ...action, tool_input: { cognition: { x: 1 } } }, ...rest };
}

test.each([
  ['an ordinary one', buildDecisionLog()],
  ['one that reports its own score', buildDecisionLog({ cognition: { intent: 'i', entropy_score: 0.9 } })],
  ['one that reports null', buildDecisionLog({ cognition: { intent: 'i', entropy_score: null } })],
  [
    'one with another cognition in its input',
    buildDecisionLog({ action: { tool_input: { cognition: { x: 1 } } } }),
  ],
  ['one whose input comes first', inputFirst(buildDecisionLog())],
  ['one that quotes the place in a text', buildDecisionLog({ cognition: { intent: '"cognition":{' } })],
  [
    'one with a key that does not survive',
    JSON.parse(JSON.stringify(buildDecisionLog()).replace('"intent"', '"__proto__":{},"intent"')),
  ],
])('scores %s', (_name, message) => {
  expectScored(message);
});

test('scores whatever an agent puts into its input', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      fc.string({ minLength: 1 }),
      (tool_input, intent) => {
        expectScored(buildDecisionLog({ action: { tool_input }, cognition: { intent } }));
      },
    ),
  );
});
