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

  it('are told apart where they were made with the preview tool, which the response names', () => {
    const response = (type: string) => ({
      id: 'resp_1',
      status: 'completed',
      tools: [{ type: 'function', name: 'f' }, { type }],
      output: [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }],
      usage: { input_tokens: 9, output_tokens: 3 },
    });
    const { readAnswer, streamReader } = DIALECT_BY_NAME['openai-responses'];
    for (const [type, search_preview_count] of [
      ['web_search_preview', 1],
      ['web_search_preview_2025_03_11', 1],
      ['web_search', undefined],
    ] as const) {
      const told = response(type);
      const reader = streamReader();
      const end = { type: 'response.completed', response: told };
      reader.push(Buffer.from(`data: ${JSON.stringify(end)}\n\n`));
      for (const { usage } of [readAnswer(told), reader.answer()]) {
        expect(usage?.search_count).toBe(1);
        expect(usage?.search_preview_count).toBe(search_preview_count);
      }
    }
  });

  describe('are the items that a stream tells of', () => {
    const done = (output_index: number, action: object = { type: 'search', query: 'q' }) => {
      const item = { type: 'web_search_call', id: `ws_${output_index}`, status: 'completed', action };
      return [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
        { type: 'response.web_search_call.searching', output_index, item_id: item.id },
        { type: 'response.output_item.done', output_index, item },
      ];
    };
    const events = [...done(0), ...done(1, { type: 'open_page', url: 'https://example.test' }), ...done(2)];
    const ended = (response: object) => ({
      type: 'response.completed',
      response: {
        id: 'resp_1',
        status: 'completed',
        usage: { input_tokens: 9, output_tokens: 3 },
        ...response,
      },
    });
    const items = events.filter(({ type }) => type.endsWith('.done')).map(({ item }) => item);

    it.each([
      ['leaves its output out', ended({}), 2],
      ['has no output', ended({ output: [] }), 2],
      ['has its output, too', ended({ output: items }), 2],
      ['has more of them', ended({ output: [...items, { ...items[0], id: 'ws_3' }] }), 3],
    ])('where its last event %s', (_, end, count) => {
      expect(searchesStreamed('openai-responses', [...events, end])).toBe(count);
      // Once each, also where a vendor numbers no events and says them twice.
      expect(searchesStreamed('openai-responses', [...events, ...events, end])).toBe(count);
    });
  });

  it.each([
    ['gpt-4o-search-preview-2025-03-11', 1],
    ['gpt-4o-mini-search-preview', 1],
    ['gpt-5-search-api', 1],
    ['gpt-4o-mini-2024-07-18', undefined],
    ['semantic-search-previewer', undefined],
  ])('are one where the model always searches, as %s', (model, count) => {
    const usage = { prompt_tokens: 9, completion_tokens: 3 };
    const message = { role: 'assistant', content: 'Found.' };
    expect(searchesIn('openai-chat', { model, choices: [{ index: 0, message }], usage })).toBe(count);
    expect(
      searchesStreamed('openai-chat', [
        { model, choices: [{ index: 0, delta: message }] },
        { model, choices: [], usage },
      ]),
    ).toBe(count);
    expect(searchesIn('openai-chat', { model, error: { message: 'overloaded' } })).toBeUndefined();
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

  it('are counted by an interaction itself, and are one up to version 2', () => {
    const counts = (count: unknown) => [
      { type: 'google_maps', count: 5 },
      { type: 'google_search', count },
    ];
    const interaction = (model: string, count: unknown) => ({
      id: 'v1_1',
      model,
      status: 'completed',
      usage: { total_input_tokens: 9, total_output_tokens: 3, grounding_tool_count: counts(count) },
    });
    for (const [model, count, searches] of [
      ['gemini-3.5-flash', 2, 2],
      ['gemini-2.5-pro', 2, 1],
      ['gemini-2.5-pro', 0, undefined],
      ['gemini-3.5-flash', -1, undefined],
    ] as const) {
      const told = interaction(model, count);
      expect(searchesIn('gemini-interactions', told)).toBe(searches);
      const end = { event_type: 'interaction.completed', interaction: told };
      expect(searchesStreamed('gemini-interactions', [end])).toBe(searches);
      const begun = { event_type: 'interaction.created', interaction: { id: 'v1_1', model } };
      const nameless = { ...end, interaction: { ...told, model: undefined } };
      expect(searchesStreamed('gemini-interactions', [begun, nameless])).toBe(searches);
    }
  });
});

describe('searches in files that the vendor ran', () => {
  const item = (id: string, status: string) => ({
    type: 'file_search_call',
    id,
    status,
    queries: ['a', 'b'],
  });
  const output = [item('fs_1', 'completed'), item('fs_2', 'failed'), item('fs_3', 'completed')];
  const usage = { input_tokens: 9, output_tokens: 3 };
  const response = (more: object) => ({ id: 'resp_1', status: 'completed', usage, ...more });
  const { readAnswer, streamReader } = DIALECT_BY_NAME['openai-responses'];
  const done = output.map((item, output_index) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  }));
  const streamed = (events: readonly object[]) => {
    const reader = streamReader();
    reader.push(Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')));
    return reader.answer().usage;
  };

  it('are the completed items of a response, however many its queries', () => {
    expect(readAnswer(response({ output })).usage).toEqual({
      ...readAnswer(response({})).usage,
      file_search_count: 2,
    });
    expect(readAnswer(response({})).usage).not.toHaveProperty('file_search_count');
  });

  it.each([
    ['leaves its output out', {}, 2],
    ['has its output, too', { output }, 2],
    ['has more of them', { output: [...output, item('fs_4', 'completed')] }, 3],
  ])('are the items that a stream tells of, where its last event %s', (_, more, count) => {
    const end = { type: 'response.completed', response: response(more) };
    for (const events of [
      [...done, end],
      [...done, ...done, end],
    ])
      expect(streamed(events)?.file_search_count).toBe(count);
  });
});
