import { describe, expect, test } from 'vitest';
import { wordsSince } from './words-since.js';

describe('words since a message', () => {
  test.each([
    ['messages', { role: 'tool', tool_call_id: 'call_9', content: [{ type: 'text', text: 'done' }] }],
    ['contents', { role: 'tool', parts: [{ functionResponse: { id: 'x9', response: { text: 'done' } } }] }],
    ['input', { type: 'function_call_output', id: 'fc_9', call_id: 'call_9', output: 'done' }],
  ])('are those of the later ones in `%s`, whoever said them, without their ids', (list, message) => {
    const words = wordsSince({ model: 'm', [list]: [{ content: 'earlier' }, message] }, 1);
    expect(words).toContain('done');
    expect(words).not.toMatch(/earlier|9/);
  });

  test('are none where there are no more messages, or no list of them', () => {
    expect(wordsSince({ messages: [{ content: 'one' }] }, 1)).toBe('');
    expect(wordsSince({ input: 'one' }, 0)).toBe('');
    expect(wordsSince(null, 0)).toBe('');
  });

  test('are the newest of a conversation that says more than is compared', () => {
    const long = { content: 'x'.repeat(100_000) };
    const words = wordsSince({ messages: [{ content: 'earlier' }, long, { content: 'newest' }] }, 0);
    expect(words).toHaveLength(65_536);
    expect(words.endsWith('x\nnewest')).toBe(true);
  });

  test('of a message that says more than is compared, what came before is not even looked at', () => {
    const message = {
      get earlier(): string {
        throw new Error('looked at');
      },
      later: ['x'.repeat(100_000), 'newest'],
    };
    expect(wordsSince({ messages: [message] }, 0)).toHaveLength(65_536);
  });
});
