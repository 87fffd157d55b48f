import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDecisionLog } from '#domain/decision-log';
import { buildDecisionLog } from '#testing';
import { withScore } from './scored-body.js';

/** What is stored must be the log with its score, whatever the message looked like. */
function expectScored(message: object): void {
  const parsed = parseDecisionLog(message);
  if (!parsed.ok) throw new Error(parsed.detail);
  const { log, warnings } = parsed;
  // Something was dropped in parsing: then it is not the message that is stored.
  if (warnings.length > 0) return;
  const reported = log.cognition.entropy_score;
  log.cognition.entropy_score = 0.3333;
  log.cognition.entropy_severity = 'warning';
  expect(JSON.parse(withScore(JSON.stringify(message), log, reported))).toEqual(
    JSON.parse(JSON.stringify(log)),
  );
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
    'one that reports a score here and in its input',
    buildDecisionLog({
      cognition: { intent: 'i', entropy_score: 1e-7 },
      action: { tool_input: { entropy_score: 0.1 } },
    }),
  ],
  [
    'one that names a score in its input only',
    buildDecisionLog({ action: { tool_input: { entropy_score: 0.1 } } }),
  ],
  [
    'one that reports a severity too',
    buildDecisionLog({ cognition: { intent: 'i', entropy_score: 0.9, entropy_severity: 'loop' } }),
  ],
])('scores %s', (_name, message) => {
  expectScored(message);
});

test('scores whatever an agent puts into its input', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      fc.string({ minLength: 1 }),
      fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
      (tool_input, intent, entropy_score) => {
        expectScored(buildDecisionLog({ action: { tool_input }, cognition: { intent, entropy_score } }));
      },
    ),
  );
});
