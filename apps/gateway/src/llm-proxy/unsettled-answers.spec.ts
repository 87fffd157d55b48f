import { expect, test } from 'vitest';
import { agentScope, type StoredDocument } from '#contracts';
import { HOUR_MS } from '#kernel';
import { FakeClock } from '#testing';
import { answerStore } from './stored-answers.fixture.js';
import { ANSWER_COUNT_MAX, newUnsettledAnswers } from './unsettled-answers.js';

const AGENT = agentScope('default', 'agent-1');
const ANSWER = {
  dialect: 'openai-responses',
  model: 'm',
  startedAtMs: 5,
  costMicroUsd: 40,
  taken: null,
} as const;

test('an answer is known after a restart, to the agent that asked for it alone, until it is settled', async () => {
  const documents = new Map<string, StoredDocument>();
  const clock = new FakeClock();
  newUnsettledAnswers(answerStore(clock, documents)).note(AGENT, 'resp\0_1', ANSWER);
  const next = newUnsettledAnswers(answerStore(clock, documents));
  await next.load();
  expect(next.find(agentScope('default', 'agent-2'), 'resp\0_1')).toBeNull();
  expect(next.find(AGENT, 'resp\0_1')).toEqual(ANSWER);
  expect([next.remove(AGENT, 'resp\0_1'), next.remove(AGENT, 'resp\0_1')]).toEqual([true, false]);
  expect(documents.size).toBe(0);
});

test('one that nobody fetched within a day is forgotten at the next start, by the store, too', async () => {
  const documents = new Map<string, StoredDocument>();
  const clock = new FakeClock();
  newUnsettledAnswers(answerStore(clock, documents)).note(AGENT, 'resp_1', ANSWER);
  clock.advance(24 * HOUR_MS + 1);
  const next = newUnsettledAnswers(answerStore(clock, documents));
  await next.load();
  expect(next.find(AGENT, 'resp_1')).toBeNull();
  expect(documents.size).toBe(0);
});

test('one that gives way is forgotten by the store, too', () => {
  const documents = new Map<string, StoredDocument>();
  const answers = newUnsettledAnswers(answerStore(new FakeClock(), documents));
  for (let index = 0; index <= ANSWER_COUNT_MAX; index += 1) answers.note(AGENT, `resp_${index}`, ANSWER);
  expect(documents.size).toBe(ANSWER_COUNT_MAX);
});
