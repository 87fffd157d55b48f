import { expect, test } from 'vitest';
import { agentScope, type StoredDocument } from '#contracts';
import { FakeClock } from '#testing';
import { answerStore } from '../calls/stored-answers.fixture.js';
import { ANSWER_COUNT_MAX, ContinuedSessions } from './continued-sessions.js';

const AGENT = agentScope('default', 'one');
const TICKET = { sessionId: 'ticket-1', asked: ['digest'] };
const ALL = { sessionId: 'all', asked: [] };

test('an answer leads to its session, for its own agent and for a day', () => {
  const clock = new FakeClock();
  const sessions = new ContinuedSessions(answerStore(clock));
  sessions.note(AGENT, 'resp_1', TICKET);
  expect(sessions.find(AGENT, 'resp_1')).toEqual(TICKET);
  expect(sessions.find(AGENT, 'resp_2')).toBeNull();
  expect(sessions.find(agentScope('default', 'two'), 'resp_1')).toBeNull();
  expect(sessions.find(agentScope('other', 'one'), 'resp_1')).toBeNull();
  clock.advance(24 * 3_600_000 + 1);
  expect(sessions.find(AGENT, 'resp_1')).toBeNull();
});

test('an answer leads to its session after a restart, too', async () => {
  const documents = new Map<string, StoredDocument>();
  const clock = new FakeClock();
  new ContinuedSessions(answerStore(clock, documents)).note(AGENT, 'resp_1', TICKET);
  const next = new ContinuedSessions(answerStore(clock, documents));
  await next.load();
  expect(next.find(AGENT, 'resp_1')).toEqual(TICKET);
});

test('an id longer than any vendor gives is not remembered', () => {
  const sessions = new ContinuedSessions(answerStore(new FakeClock()));
  sessions.note(AGENT, 'x'.repeat(1_000), TICKET);
  expect(sessions.find(AGENT, 'x'.repeat(1_000))).toBeNull();
});

test('a tenant whose agents answer without end pushes out its own answers, and nobody else’s', () => {
  const sessions = new ContinuedSessions(answerStore(new FakeClock()));
  const other = agentScope('other', 'one');
  sessions.note(AGENT, 'resp_1', TICKET);
  for (let count = 0; count < 2 * ANSWER_COUNT_MAX; count += 1) sessions.note(other, `resp_${count}`, ALL);
  expect(sessions.find(AGENT, 'resp_1')).toEqual(TICKET);
  expect(sessions.find(other, 'resp_0')).toBeNull();
  expect(sessions.find(other, `resp_${2 * ANSWER_COUNT_MAX - 1}`)).toEqual(ALL);
});

test('of a long conversation the latest prompts are remembered', () => {
  const sessions = new ContinuedSessions(answerStore(new FakeClock()));
  const asked = Array.from({ length: 1_000 }, (_, at) => `digest ${at}`);
  sessions.note(AGENT, 'resp_1', { sessionId: 'ticket-1', asked });
  const kept = sessions.find(AGENT, 'resp_1')?.asked ?? [];
  expect(kept.length).toBeLessThan(100);
  expect(kept).toEqual(asked.slice(-kept.length));
});
