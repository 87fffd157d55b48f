import { expect, it } from 'vitest';
import { DIALECT_BY_NAME } from './dialect-for.js';

const DIALECTS = Object.values(DIALECT_BY_NAME);

it.each(DIALECTS)('an error that is a mere text is a failure, whole and in a stream: $name', (dialect) => {
  const answer = { error: 'overloaded' };
  expect(dialect.readAnswer(answer)).toMatchObject({ failed: true, finish: null, usage: null });
  const reader = dialect.streamReader();
  reader.push(Buffer.from(`data: ${JSON.stringify(answer)}\n\n`));
  reader.end();
  expect(reader.answer()).toMatchObject({ failed: true, text: '' });
});

it.each(DIALECTS)('a member for errors that holds none is no failure: $name', (dialect) => {
  for (const error of [null, '', false, undefined]) expect(dialect.readAnswer({ error }).failed).toBe(false);
});

const ENDED_BY_FAILURE = [
  { finish_reason: 'error' },
  { finish_reason: 'stop', error: { code: 502, message: 'Provider returned error' } },
  { finish_reason: 'insufficient_system_resource' },
  { finish_reason: 'network_error' },
];

it.each(ENDED_BY_FAILURE)(
  'a choice that its vendor could not end is a failure, whole and in a stream: %o',
  (end) => {
    const { 'openai-chat': dialect } = DIALECT_BY_NAME;
    const said = { role: 'assistant', content: 'Half an' };
    const whole = { choices: [{ index: 0, message: said, ...end }] };
    expect(dialect.readAnswer(whole)).toMatchObject({ failed: true, text: 'Half an' });
    const reader = dialect.streamReader();
    for (const choice of [
      { delta: said, finish_reason: null },
      { delta: {}, ...end },
    ])
      reader.push(Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`));
    reader.push(Buffer.from('data: [DONE]\n\n'));
    expect(reader.answer()).toMatchObject({ failed: true, text: 'Half an', lossless: false });
  },
);

it("vLLM's error, which is the object itself, is a failure, whole and in a stream", () => {
  const { 'openai-chat': dialect } = DIALECT_BY_NAME;
  const answer = { object: 'error', message: 'The engine died.', type: 'InternalServerError', code: 500 };
  expect(dialect.readAnswer(answer).failed).toBe(true);
  const reader = dialect.streamReader();
  reader.push(Buffer.from(`data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`));
  expect(reader.answer().failed).toBe(true);
});
