import { expect, it } from 'vitest';
import type { DialectName } from '#contracts';
import { DIALECT_BY_NAME } from './dialect-for.js';

/** Small beside what a request may hold. */
const given = { rows: Array(40_000).fill(1) };
const given_text = JSON.stringify(given);
const RESULT_COUNT = 10_000;
const many = <T>(result: T): T[] => Array(RESULT_COUNT).fill(result);

const REQUESTS: [DialectName, path: string, body: object][] = [
  [
    'openai-chat',
    '/chat/completions',
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'save', arguments: given } }] },
        ...many({ role: 'tool', tool_call_id: 'c', content: 'ok' }),
      ],
    },
  ],
  [
    'openai-responses',
    '/responses',
    {
      input: [
        { type: 'function_call', call_id: 'c', name: 'save', arguments: given },
        ...many({ type: 'function_call_output', call_id: 'c', output: 'ok' }),
      ],
    },
  ],
  [
    'anthropic',
    '/v1/messages',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'save', input: given }] },
        { role: 'user', content: many({ type: 'tool_result', tool_use_id: 'c', content: 'ok' }) },
      ],
    },
  ],
  [
    'gemini',
    '/v1beta/models/m:generateContent',
    {
      contents: [
        { role: 'model', parts: [{ functionCall: { id: 'c', name: 'save', args: given } }] },
        { role: 'user', parts: many({ functionResponse: { id: 'c', name: 'save', response: {} } }) },
      ],
    },
  ],
];

it.each(REQUESTS)('a call of %s is read once, however many results answer it', (name, path, body) => {
  const results = DIALECT_BY_NAME[name].readRequest(body, path).newest.tool_results;
  expect(results).toHaveLength(RESULT_COUNT);
  expect(results.at(-1)?.call).toMatchObject({ name: 'save', arguments: given_text });
  expect(new Set(results.map(({ call }) => call)).size).toBe(1);
});
