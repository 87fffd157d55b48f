import { expect, test } from 'vitest';
import { agentScope } from '#contracts';
import { FakeClock } from '#testing';
import { ContinuedSessions } from './continued-sessions.js';

const AGENT = agentScope('default', 'one');

test('an answer leads to its session, for its own agent and for a day', () => {
  const clock = new FakeClock();
  const sessions = new ContinuedSessions(clock);
  sessions.note(AGENT, 'resp_1', 'ticket-1');
  expect(sessions.find(AGENT, 'resp_1')).toBe('ticket-1');
  expect(sessions.find(AGENT, 'resp_2')).toBeNull();
  expect(sessions.find(agentScope('default', 'two'), 'resp_1')).toBeNull();
  expect(sessions.find(agentScope('other', 'one'), 'resp_1')).toBeNull();
  clock.advance(24 * 3_600_000 + 1);
  expect(sessions.find(AGENT, 'resp_1')).toBeNull();
});

test('an id longer than any vendor gives is not remembered', () => {
  const sessions = new ContinuedSessions(new FakeClock());
  sessions.note(AGENT, 'x'.repeat(1_000), 'ticket-1');
  expect(sessions.find(AGENT, 'x'.repeat(1_000))).toBeNull();
});
