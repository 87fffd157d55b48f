import { expect, test } from 'vitest';
import { agentScope, type DocumentChange, type DocumentWrite, type StoredDocument } from '#contracts';
import { HOUR_MS } from '#kernel';
import { FakeClock, FakeTime } from '#testing';
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

test('one that nobody fetched until a day before the latest is forgotten at the next start, by the store, too', async () => {
  const documents = new Map<string, StoredDocument>();
  const clock = new FakeClock();
  newUnsettledAnswers(answerStore(clock, documents)).note(AGENT, 'resp_1', ANSWER);
  clock.advance(24 * HOUR_MS + 1);
  newUnsettledAnswers(answerStore(clock, documents)).note(AGENT, 'resp_2', ANSWER);
  const next = newUnsettledAnswers(answerStore(clock, documents));
  await next.load();
  expect([next.find(AGENT, 'resp_1'), next.find(AGENT, 'resp_2')]).toEqual([null, ANSWER]);
  expect(documents.size).toBe(1);
});

test('a start on a clock that is days ahead forgets none, nor does the next on one that was set right', async () => {
  const documents = new Map<string, StoredDocument>();
  const clock = new FakeClock();
  const rightMs = clock.nowMs();
  newUnsettledAnswers(answerStore(clock, documents)).note(AGENT, 'resp_1', ANSWER);
  clock.set(rightMs + 3 * 24 * HOUR_MS);
  const ahead = newUnsettledAnswers(answerStore(clock, documents));
  await ahead.load();
  expect(ahead.find(AGENT, 'resp_1')).toEqual(ANSWER);
  ahead.note(AGENT, 'resp_2', ANSWER);
  clock.set(rightMs);
  const right = newUnsettledAnswers(answerStore(clock, documents));
  await right.load();
  expect([right.find(AGENT, 'resp_1'), right.find(AGENT, 'resp_2')]).toEqual([ANSWER, ANSWER]);
});

test('what a full disk refused is written once it takes that: what came is known after a restart, what is settled is not', async () => {
  const documents = new Map<string, StoredDocument>();
  const time = new FakeTime();
  const { store } = answerStore(time, documents);
  let isFull = false;
  const commitDocuments = (write: DocumentWrite) =>
    isFull ? Promise.reject(new Error('full')) : store.commitDocuments(write);
  const parts = {
    clock: time,
    timer: time,
    store: { ...store, commitDocuments },
    onSaveFailed: () => {},
  };
  const answers = newUnsettledAnswers(parts);
  answers.note(AGENT, 'resp_before', ANSWER);
  isFull = true;
  answers.note(AGENT, 'resp_came', ANSWER);
  answers.note(AGENT, 'resp_came_and_went', ANSWER);
  answers.remove(AGENT, 'resp_came_and_went');
  answers.remove(AGENT, 'resp_before');
  await time.pass(60_000);
  isFull = false;
  await time.pass(5_000);
  const next = newUnsettledAnswers(parts);
  await next.load();
  const known = ['resp_before', 'resp_came', 'resp_came_and_went'].map((id) => next.find(AGENT, id));
  expect(known).toEqual([null, ANSWER, null]);
  expect(time.timerCount).toBe(0);
});

test('what is to be stored with the record of a call is handed over, and stored by nobody else', () => {
  const documents = new Map<string, StoredDocument>();
  const answers = newUnsettledAnswers(answerStore(new FakeClock(), documents));
  const handed: DocumentChange[] = [];
  const hand = (change: DocumentChange) => void handed.push(change);
  answers.note(AGENT, 'resp_1', ANSWER, hand);
  expect(answers.find(AGENT, 'resp_1')).toEqual(ANSWER);
  expect([answers.remove(AGENT, 'resp_1', hand), answers.remove(AGENT, 'resp_1', hand)]).toEqual([
    true,
    false,
  ]);
  const key = { tenant_id: 'default', kind: 'unsettled_answer', id: '["agent-1","resp_1"]' };
  expect(handed).toEqual([
    { saved: [{ ...key, body: ANSWER, updated_at_ms: expect.any(Number) }] },
    { deleted: [key] },
  ]);
  expect(documents.size).toBe(0);
});

test('one that gives way is forgotten by the store, too', () => {
  const documents = new Map<string, StoredDocument>();
  const answers = newUnsettledAnswers(answerStore(new FakeClock(), documents));
  for (let index = 0; index <= ANSWER_COUNT_MAX; index += 1) answers.note(AGENT, `resp_${index}`, ANSWER);
  expect(documents.size).toBe(ANSWER_COUNT_MAX);
});
