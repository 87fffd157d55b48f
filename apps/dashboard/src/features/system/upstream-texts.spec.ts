import { expect, test } from 'vitest';
import type { UpstreamHealth } from '#contracts';
import { byUrgency, failureText, shareText, upstreamAdvice } from './upstream-texts';

const FAILING: UpstreamHealth = {
  name: 'openai',
  state: 'failing',
  call_count: 1_400,
  failed_count: 1_200,
  failed_agent_count: 7,
  failed_agent_id: null,
  waiting_count: 0,
  waiting_since_ms: null,
  failing_since_ms: 1,
  answered_at_ms: 0,
  last_failure: { at_ms: 2, status: 503, detail: 'overloaded_error' },
};

test('how much of it fails', () => {
  expect(shareText(FAILING)).toBe('1,200 of 1,400 calls failed in 5 min, of 7 agents');
  expect(shareText({ ...FAILING, failed_agent_count: 1, failed_agent_id: 'scout' })).toBe(
    '1,200 of 1,400 calls failed in 5 min, all of agent',
  );
  expect(shareText({ ...FAILING, call_count: 1, failed_count: 0 })).toBe('1 call in 5 min, none failed');
  expect(shareText({ ...FAILING, call_count: 0, failed_count: 0 })).toBe('No call ended in 5 min');
  expect(shareText({ ...FAILING, call_count: 0, failed_count: 0, waiting_count: 4 })).toBe(
    'No call ended in 5 min, 4 calls without an answer for 30 s or longer',
  );
});

test('what the latest failed call got', () => {
  expect(failureText({ at_ms: 0, status: 503, detail: 'overloaded_error' })).toBe('503. overloaded_error.');
  expect(failureText({ at_ms: 0, status: 503, detail: 'It is busy.' })).toBe('503. It is busy.');
  expect(failureText({ at_ms: 0, status: 503, detail: null })).toBe('503.');
  expect(failureText({ at_ms: 0, status: 499, detail: 'left' })).toBe('no answer, until the client left.');
});

test.each([
  [401, 'It refuses the key'],
  [403, 'It refuses the key'],
  [402, 'It wants money'],
  [429, 'more often than it allows'],
  [502, 'status page'],
])('%i has its remedy', (status, words) => {
  const last_failure = { at_ms: 0, status, detail: null };
  expect(upstreamAdvice({ ...FAILING, last_failure })).toContain(words);
  expect(upstreamAdvice({ ...FAILING, state: 'faltering', last_failure })).toContain(words);
  expect(upstreamAdvice({ ...FAILING, state: 'serving', last_failure })).toBeNull();
  expect(upstreamAdvice({ ...FAILING, state: 'idle', last_failure })).toBeNull();
});

test.each([
  [401, 'the agent’s own key'],
  [403, 'the agent’s own key'],
  [429, 'slow the agent down'],
])('%i of one agent alone, while others are answered, is that agent’s to mend', (status, words) => {
  const last_failure = { at_ms: 0, status, detail: null };
  const alone: UpstreamHealth = { ...FAILING, failed_agent_count: 1, failed_agent_id: 'scout', last_failure };
  expect(upstreamAdvice({ ...alone, state: 'faltering' })).toContain(words);
  expect(upstreamAdvice({ ...alone, call_count: 9, failed_count: 9 })).not.toContain(words);
});

test('one that takes calls and is silent may be slow', () => {
  const silent: UpstreamHealth = { ...FAILING, state: 'faltering', failed_count: 0, waiting_count: 3 };
  expect(upstreamAdvice({ ...silent, last_failure: null })).toContain('does not answer');
});

test('the worst comes first', () => {
  const names = [
    ['b', 'serving'],
    ['z', 'idle'],
    ['a', 'serving'],
    ['y', 'faltering'],
    ['x', 'failing'],
  ] as const;
  const sorted = byUrgency(names.map(([name, state]) => ({ ...FAILING, name, state })));
  expect(sorted.map(({ name }) => name)).toEqual(['x', 'y', 'a', 'b', 'z']);
});
