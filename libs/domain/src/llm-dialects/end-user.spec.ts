import { describe, expect, it } from 'vitest';
import { DIALECT_BY_NAME } from './dialect-for.js';

describe('for whom a request is made', () => {
  it.each([
    ['openai-chat', { user: 'u1' }, 'u1'],
    ['openai-chat', { user: 'u1', safety_identifier: 's1' }, 's1'],
    ['openai-responses', { safety_identifier: 's1' }, 's1'],
    ['anthropic', { metadata: { user_id: 'u2' } }, 'u2'],
    ['anthropic', { metadata: 'odd' }, null],
    ['openai-chat', { user: 7 }, null],
  ] as const)('%s with %j says %j', (name, body, endUser) => {
    expect(DIALECT_BY_NAME[name].readRequest(body, '').end_user).toBe(endUser);
  });
});
