import { describe, expect, it, test } from 'vitest';
import { dialectFor } from './dialect-for.js';
import { tellsFailure } from './tells-failure.js';

describe('a result tells a failure', () => {
  it.each([
    'Error: no such order\n Please fix your mistakes.',
    "Error invoking tool 'get_order' with kwargs {'id': 1} with error:\n id is no text",
    'An error occurred while running the tool. Please try again. Error: no such order',
    'TypeError: fetch failed',
    'requests.exceptions.ConnectionError: refused',
    '\nTraceback (most recent call last):\n  File "a.py", line 1',
    'ENOENT: no such file or directory',
    'Chunk ID: 0af3\nWall time: 0.02 seconds\nProcess exited with code 2\nOutput:\nmake: no rule',
    'make: no rule\n\n\nCommand exited with code 2',
    'make: no rule\n<shellId: 0 completed with exit code 2>',
    'Output: no rule\nError: (none)\nExit Code: 2\nSignal: 0\nProcess Group PGID: 21660',
    '<untrusted_context>\nOutput: no rule\nExit Code: 2\nProcess Group PGID: 21660\n</untrusted_context>',
    '[ERROR] Error: no such order',
    'The tool has failed; the error log is shown below. If the tool cannot accomplish what you want, use a different tool.',
    '{"error":"no such order"}',
    '{"content":[],"isError":true}',
  ])('in %j', (text) => {
    expect(tellsFailure(text)).toBe(true);
  });

  it.each([
    '',
    'ok',
    'Errors of today: none',
    'The log says Error: disk full',
    'ERROR_CODES: see below',
    '[ERROR]-lines of today: none',
    'Chunk ID: 0af3\nWall time: 0.02 seconds\nProcess exited with code 0\nOutput:\nError: is what it prints',
    'Command exited with code 2\nis what it prints',
    'ok\n<shellId: 0 completed with exit code 0>',
    'Output: Exit Code: 2\nError: (none)\nExit Code: 0\nSignal: 0\nProcess Group PGID: 21660',
    '{"error":null,"id":1}',
    '{"error":"","id":1}',
    '{"errors":[]}',
    '{"error":',
    `{"error":"${'x'.repeat(5_000)}"}`,
    '[{"error":"in the second of three"}]',
  ])('not in %j', (text) => {
    expect(tellsFailure(text)).toBe(false);
  });
});

const FAILED = 'Error: no such order\n Please fix your mistakes.';

test.each([
  ['openai', '/chat/completions', { messages: [{ role: 'tool', tool_call_id: 'c', content: FAILED }] }],
  [
    'openai',
    '/responses',
    { input: [{ type: 'function_call_output', call_id: 'c', output: FAILED, status: 'completed' }] },
  ],
  [
    'anthropic',
    '/v1/messages',
    { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: FAILED }] }] },
  ],
  [
    'gemini',
    '/v1beta/models/m:generateContent',
    {
      contents: [
        { role: 'user', parts: [{ functionResponse: { name: 'get', response: { output: FAILED } } }] },
      ],
    },
  ],
] as const)('a result without a field for it has failed by its words, at %s %s', (kind, path, body) => {
  const results = dialectFor(kind, 'POST', path)?.readRequest(body, path).newest.tool_results;
  expect(results).toMatchObject([{ text: FAILED, failed: true }]);
});

test.each([
  { name: 'get', content: { error: true, message: 'no such order' } },
  { output: [{ text: FAILED }] },
  { result: { error: 'no such order' } },
  { name: 'get', content: FAILED },
])(
  "a result that a framework wraps into Gemini's object has failed by what is inside, as in %j",
  (response) => {
    const path = '/v1beta/models/m:generateContent';
    const resultOf = (one: object) =>
      dialectFor('gemini', 'POST', path)?.readRequest(
        { contents: [{ role: 'user', parts: [{ functionResponse: { name: 'get', response: one } }] }] },
        path,
      ).newest.tool_results;
    expect(resultOf(response)).toMatchObject([{ failed: true }]);
    expect(resultOf(JSON.parse(JSON.stringify(response).replace(/[Ee]rror/g, 'answer')))).toMatchObject([
      { failed: false },
    ]);
  },
);

test("Anthropic's field is believed whatever the words say", () => {
  const content = [{ type: 'tool_result', tool_use_id: 'c', content: FAILED, is_error: false }];
  const path = '/v1/messages';
  const request = dialectFor('anthropic', 'POST', path)?.readRequest(
    { messages: [{ role: 'user', content }] },
    path,
  );
  expect(request?.newest.tool_results).toMatchObject([{ failed: false }]);
});
