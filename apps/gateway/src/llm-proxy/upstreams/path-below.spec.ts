import { expect, test } from 'vitest';
import { pathBelow } from './path-below.js';

const openai = { kind: 'openai', basePath: '/v1' } as const;
const gemini = { kind: 'gemini', basePath: '' } as const;

test.each([
  [openai, '/v1/chat/completions', '/chat/completions'],
  [openai, '/v1/v1/v1/chat/completions', '/chat/completions'],
  [openai, '/chat/completions', '/chat/completions'],
  [openai, '/v1', ''],
  [openai, '/v12/v1/models', '/v12/v1/models'],
  [openai, '/v1x/v1x', '/v1x/v1x'],
  [gemini, '/v1beta/v1beta/models', '/v1beta/models'],
  [gemini, '/v1alpha2/v1alpha2', '/v1alpha2'],
  [gemini, '/v1/v1beta/models', '/v1/v1beta/models'],
  [{ kind: 'anthropic', basePath: '/some/v1' }, '/v1/messages', '/messages'],
] as const)('of an upstream at %j, %s is %s', (target, given, path) => {
  expect(pathBelow(target, given)).toBe(path);
});

test('a path of digits as long as a head may be is looked at once', () => {
  // Where each place among them is tried with each behind it, that takes minutes.
  const digits = `/v${'1'.repeat(200_000)}`;
  expect(pathBelow(openai, digits)).toBe(digits);
});
