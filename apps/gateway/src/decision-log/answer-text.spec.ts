import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AGENT_CONTROL_STATES, acceptedAnswerSchema, type IngestAnswer, SEVERITIES } from '#contracts';
import { answersText, answerText, asciiText } from './answer-text.js';

const accepted = fc.record(
  {
    status: fc.constant('accepted' as const),
    trace_id: fc.string({ unit: 'binary' }),
    session_id: fc.string(),
    entropy: fc.record({
      score: fc.double({ min: 0, max: 1, noNaN: true }),
      severity: fc.constantFrom(...SEVERITIES),
      window_size: fc.nat(),
    }),
    control: fc.oneof(
      fc.constant({ state: 'active' as const, directives: [] }),
      fc.record({
        state: fc.constantFrom(...AGENT_CONTROL_STATES),
        directives: fc.array(fc.record({ seq: fc.nat(), directive_id: fc.string() }), { maxLength: 2 }),
      }),
    ),
    warnings: fc.array(fc.string()),
  },
  { requiredKeys: ['status', 'trace_id', 'session_id', 'entropy', 'control'] },
);
const rejected = fc.record({
  status: fc.constant('rejected' as const),
  reason: fc.constantFrom('schema_violation' as const, 'invalid_json' as const),
  detail: fc.string(),
  trace_id: fc.option(fc.string()),
});
const answers = fc.array(fc.oneof(accepted, rejected)) as fc.Arbitrary<IngestAnswer[]>;

test('is what JSON.stringify writes', () => {
  fc.assert(
    fc.property(answers, (results) => {
      expect(results.map(answerText)).toEqual(results.map((answer) => JSON.stringify(answer)));
      expect(answersText(results)).toBe(JSON.stringify({ results }));
    }),
  );
});

test('is called ASCII where it has a byte for each character', () => {
  const entropy = { score: 0.8, severity: 'normal' as const, window_size: 5 };
  const control = { state: 'active' as const, directives: [] };
  const answerOf = (traceId: string, sessionId: string) =>
    ({ status: 'accepted', trace_id: traceId, session_id: sessionId, entropy, control }) as const;
  expect(asciiText(answerOf('t-1', 's 1~'))).toBe(JSON.stringify(answerOf('t-1', 's 1~')));
  for (const id of ['é', '会話', '\u2028', '"', '\\', '\n', '\x7f'])
    expect([asciiText(answerOf(id, 's')), asciiText(answerOf('t', id))]).toEqual([null, null]);
  fc.assert(
    fc.property(accepted, (answer) => {
      const text = asciiText(answer as IngestAnswer);
      expect(text ?? answerText(answer as IngestAnswer)).toBe(JSON.stringify(answer));
      if (text !== null) expect(Buffer.byteLength(text)).toBe(text.length);
    }),
  );
});

test('of an ordinary step has every field of the contract', () => {
  const entropy = { score: 0.8, severity: 'normal' as const, window_size: 5 };
  const control = { state: 'active' as const, directives: [] };
  const text = answerText({ status: 'accepted', trace_id: '"', session_id: '\u2028', entropy, control });
  const fields = Object.keys(acceptedAnswerSchema.required().shape).filter((field) => field !== 'warnings');
  expect(Object.keys(JSON.parse(text))).toEqual(fields);
});
