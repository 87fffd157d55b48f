import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CachedAnswer, DIALECTS, type DialectName, type LlmAnswer } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';

const caller = (name: DialectName, stream: boolean) => ({
  body: { model: 'm', stream, store: false },
  path: `/v1beta/models/m:${name === 'gemini' && stream ? 'streamGenerateContent' : 'generateContent'}`,
});

function replay(name: DialectName, answer: CachedAnswer, stream: boolean, query: string): LlmAnswer {
  const own = DIALECT_BY_NAME[name].writeReplay({
    ...caller(name, stream),
    query,
    answer,
    id: 'r1',
    atMs: 0,
  });
  if (own === null) throw new Error('it cannot be replayed');
  if (!stream) return DIALECT_BY_NAME[name].readAnswer(JSON.parse(own.body));
  const reader = DIALECT_BY_NAME[name].streamReader();
  reader.push(Buffer.from(own.body));
  return reader.answer();
}

/** Numbers that JSON.parse rounds are refused, and have a spec of their own. */
const exact = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? 0.5 : value;
const call = fc.record({
  id: fc.stringMatching(/^[\w-]{1,20}$/),
  name: fc.stringMatching(/^\w{1,20}$/),
  arguments: fc
    .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true })
    .map((value) => JSON.stringify(value, exact)),
});
/** Half surrogate pairs too, which JSON carries escaped. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 600, size: 'max' }),
  fc
    .array(fc.constantFrom('\ud83d', '\ude86', 'a', '\n\ndata: '), { maxLength: 600, size: 'max' })
    .map((units) => units.join('')),
);
const place = fc.record({
  name: fc.constantFrom(...DIALECTS),
  stream: fc.boolean(),
  query: fc.constantFrom('', 'alt=sse'),
});

describe('an answer', () => {
  it('given again and again, from dialect to dialect, stays the answer it was', () => {
    fc.assert(
      fc.property(
        text,
        fc.array(call, { maxLength: 3 }),
        fc.array(place, { minLength: 1, maxLength: 4 }),
        (text, calls, places) => {
          const tool_calls = calls.map((call, index) => ({ ...call, id: `${call.id}_${index}` }));
          const finish = calls.length > 0 ? ('tool_calls' as const) : ('stop' as const);
          let answer: CachedAnswer = {
            dialect: 'openai-chat',
            answer_id: 'a',
            model: 'm',
            text,
            tool_calls,
            finish,
            usage: null,
          };
          for (const { name, stream, query } of places) {
            const again = replay(name, answer, stream, query);
            expect(again).toMatchObject({ text, finish, lossless: true });
            expect(
              again.tool_calls.map((made) => ({ ...made, arguments: JSON.parse(made.arguments) })),
            ).toEqual(tool_calls.map((made) => ({ ...made, arguments: JSON.parse(made.arguments) })));
            const { model, usage, answer_id } = again;
            answer = {
              dialect: name,
              answer_id,
              model,
              text: again.text,
              tool_calls: again.tool_calls,
              finish,
              usage,
            };
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
