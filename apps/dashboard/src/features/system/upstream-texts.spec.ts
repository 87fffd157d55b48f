import { expect, test } from 'vitest';
import type { UpstreamHealth } from '#contracts';
import { byUrgency, failureText, shareText, upstreamAdvice } from './upstream-texts';

const FAILING: UpstreamHealth = {
  name: 'openai',
  state: 'failing',
  call_count: 1_400,
  failed_count: 1_200,
  failed_agent_count: 1,
  failing_since_ms: 1,
  answered_at_ms: 0,
  last_failure: { at_ms: 2, status: 503, detail: 'overloaded_error' },
};

test('how much of it fails', () => {
  expect(shareText(FAILING)).toBe('1,200 of 1,400 calls failed in 5 min, of 1 agent');
  expect(shareText({ ...FAILING, call_count: 1, failed_count: 0 })).toBe('1 call in 5 min, none failed');
  expect(shareText({ ...FAILING, call_count: 0, failed_count: 0 })).toBe('No call in 5 min');
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
