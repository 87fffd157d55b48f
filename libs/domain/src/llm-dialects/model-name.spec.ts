import { expect, it } from 'vitest';
import { DIALECTS } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';

const pathOf = (dialect: string, model: string) =>
  dialect === 'gemini' ? `/v1beta/models/${model}:generateContent` : '/any';

it.each(DIALECTS)(
  'reads the model that a request of %s names, and none that is too long to be one',
  (name) => {
    const modelOf = (model: string) =>
      DIALECT_BY_NAME[name].readRequest({ model }, pathOf(name, model)).model;
    const longest = 'm'.repeat(256);
    expect(modelOf(longest)).toBe(longest);
    // It is kept with each call, in every listing and on every page.
    expect(modelOf(`${longest}m`)).toBeNull();
  },
);

/** As each vendor names the model of its answer. */
const answerOf = (dialect: string, model: string): object =>
  dialect === 'gemini'
    ? { modelVersion: model, candidates: [] }
    : { model, choices: [], content: [], output: [] };

/** The event in which a stream says it. */
function eventOf(dialect: string, model: string): object {
  const answer = answerOf(dialect, model);
  if (dialect === 'anthropic') return { type: 'message_start', message: answer };
  if (dialect === 'gemini-interactions') return { event_type: 'interaction.completed', interaction: answer };
  return dialect === 'openai-responses' ? { type: 'response.completed', response: answer } : answer;
}

it.each(DIALECTS)(
  'reads the model that an answer of %s names, whole and streamed, and none that is too long to be one',
  (name) => {
    const dialect = DIALECT_BY_NAME[name];
    const streamed = (model: string) => {
      const reader = dialect.streamReader();
      reader.push(Buffer.from(`data: ${JSON.stringify(eventOf(name, model))}\n\n`));
      reader.end();
      return reader.answer().model;
    };
    const longest = 'm'.repeat(256);
    for (const modelOf of [(model: string) => dialect.readAnswer(answerOf(name, model)).model, streamed]) {
      expect(modelOf(longest)).toBe(longest);
      // A step with it would be refused, and its session would show nothing.
      expect(modelOf(`${longest}m`)).toBeNull();
    }
  },
);
