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
