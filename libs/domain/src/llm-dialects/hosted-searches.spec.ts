import { describe, expect, it } from 'vitest';
import type { DialectName } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';

const searchesIn = (name: DialectName, body: unknown) =>
  DIALECT_BY_NAME[name].readAnswer(body).usage?.search_count;

const searchesStreamed = (name: DialectName, events: readonly object[]) => {
  const reader = DIALECT_BY_NAME[name].streamReader();
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  reader.push(Buffer.from(lines.join('')));
  return reader.answer().usage?.search_count;
};

describe('web searches that the vendor ran', () => {
  it('are in the usage of a message, at the end of its stream', () => {
    const usage = { input_tokens: 9, output_tokens: 3, server_tool_use: { web_search_requests: 2 } };
    expect(searchesIn('anthropic', { type: 'message', content: [], usage })).toBe(2);
    const events = [
      { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ];
    expect(searchesStreamed('anthropic', events)).toBe(2);
    expect(
      searchesIn('anthropic', { type: 'message', content: [], usage: { ...usage, server_tool_use: null } }),
    ).toBeUndefined();
  });

  it('are the items of a response, without pages opened and searches that failed', () => {
    const item = (status: string, action?: object) => ({
      type: 'web_search_call',
      id: 'ws_1',
      status,
      action,
    });
    const response = {
      id: 'resp_1',
      status: 'completed',
      output: [
        item('completed', { type: 'search', query: 'a' }),
        item('completed', { type: 'open_page', url: 'https://example.test' }),
        item('completed', { type: 'find_in_page', pattern: 'b' }),
        item('failed', { type: 'search', query: 'c' }),
        item('completed'),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Found.' }] },
      ],
      usage: { input_tokens: 9, output_tokens: 3 },
    };
    expect(searchesIn('openai-responses', response)).toBe(2);
    expect(searchesStreamed('openai-responses', [{ type: 'response.completed', response }])).toBe(2);
    expect(searchesIn('openai-responses', { ...response, output: [] })).toBeUndefined();
  });

  it('are the different queries of a grounded answer, and up to version 2 the answer itself', () => {
    const answer = (modelVersion: string, webSearchQueries: unknown) => ({
      modelVersion,
      candidates: [{ content: { parts: [{ text: 'Found.' }] }, groundingMetadata: { webSearchQueries } }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
    });
    const queries = ['a', '', 'b', 'a'];
    expect(searchesIn('gemini', answer('gemini-3.5-flash', queries))).toBe(2);
    expect(searchesIn('gemini', answer('gemini-2.5-pro', queries))).toBe(1);
    expect(searchesIn('gemini', answer('gemini-2.5-pro', ['']))).toBeUndefined();
    expect(searchesIn('gemini', answer('gemini-3.5-flash', 'a'))).toBeUndefined();
    const last = { ...answer('gemini-3.5-flash', undefined), candidates: [{ finishReason: 'STOP' }] };
    expect(searchesStreamed('gemini', [answer('gemini-3.5-flash', queries), last])).toBe(2);
  });
});
