import { describe, expect, test } from 'vitest';
import { DIALECT_BY_NAME } from './dialect-for.js';
import { readUsageAtEnd, USAGE_END_CHARS_MAX } from './usage-at-end.js';

const used = (input_tokens: number, output_tokens: number, cached_input_tokens = 0) => ({
  input_tokens,
  cached_input_tokens,
  cache_write_tokens: 0,
  output_tokens,
  reasoning_tokens: 0,
});

describe('the usage at the end of an answer that nobody reads', () => {
  test.each([
    ['embeddings', '0.1]}],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}', used(8, 0)],
    [
      'a completion, with details and more behind it',
      '{"choices":[{"text":"x"}], "usage" : {"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,' +
        '"prompt_tokens_details":{"cached_tokens":2}},"kv":{"a":null}}',
      used(5, 7, 2),
    ],
    [
      'a stream whose last event has it',
      'data: {"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n' +
        'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":9}}\n\ndata: [DONE]\n\n',
      used(1, 9),
    ],
    ['a compaction', '"output":[],"usage":{"input_tokens":40,"output_tokens":3}}', used(40, 3)],
    [
      'Gemini',
      '{"embeddings":[],"usageMetadata":{"promptTokenCount":6,"candidatesTokenCount":2}}',
      used(6, 2),
    ],
    [
      "Gemini's interactions",
      '"status":"completed","usage":{"input_tokens_by_modality":[{"modality":"text","tokens":7}],"total_cached_tokens":3,' +
        '"total_input_tokens":7,"total_output_tokens":20,"total_thought_tokens":22,"total_tool_use_tokens":1}}',
      { ...used(8, 42, 3), reasoning_tokens: 22 },
    ],
  ])('is read: %s', (_, end, usage) => {
    expect(readUsageAtEnd(end)).toEqual(usage);
  });

  test('is read as the vendor counts, where that is known', () => {
    const cached = '"usage":{"input_tokens":5,"cache_read_input_tokens":40,"output_tokens":3}}';
    expect(readUsageAtEnd(cached)).toEqual(used(5, 3));
    expect(readUsageAtEnd(cached, DIALECT_BY_NAME.anthropic)).toEqual(used(45, 3, 40));
    for (const [name, end, usage] of [
      ['openai-chat', '"usage":{"prompt_tokens":8,"completion_tokens":2}}', used(8, 2)],
      ['openai-responses', '"usage":{"input_tokens":8,"output_tokens":2},"metadata":{}}', used(8, 2)],
      ['gemini', '"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":2}}', used(8, 2)],
      ['gemini-interactions', '"usage":{"total_input_tokens":8,"total_output_tokens":2}}', used(8, 2)],
    ] as const)
      expect(readUsageAtEnd(end, DIALECT_BY_NAME[name])).toEqual(usage);
  });

  test('is read with what tools of the vendor took beside it', () => {
    const end =
      'AA=="}],"tool_usage":{"image_gen":{"input_tokens":5,"output_tokens":400},"web_search":{"num_requests":2}},' +
      '"tools":[{"type":"image_generation"}],"usage":{"input_tokens":8,"output_tokens":2}}';
    expect(readUsageAtEnd(end, DIALECT_BY_NAME['openai-responses'])).toEqual({
      ...used(13, 402),
      image_output_tokens: 400,
      search_count: 2,
    });
  });

  test.each([
    ['none is told', '{"data":[]}'],
    ['it is null', '{"usage":null}'],
    ['it is not whole', '"usage":{"prompt_tokens":5,"details":{"a":1}'],
    ['only the answer is counted', 'data: {"type":"message_delta","usage":{"output_tokens":15}}\n\n'],
    ['it counts nothing that is known', '"usage":{"seconds":3}'],
    ['the model says it', JSON.stringify({ text: '"usage":{"prompt_tokens":1,"completion_tokens":1}' })],
    ['it is nothing but braces', `"usage":{${'}'.repeat(5_000)}`],
    [
      'it stands far from the end',
      `"usage":{"prompt_tokens":5,"completion_tokens":7},"${'x'.repeat(USAGE_END_CHARS_MAX)}"}`,
    ],
  ])('is unknown where %s', (_, end) => {
    expect(readUsageAtEnd(end)).toBeNull();
  });
});
