import { describe, expect, it } from 'vitest';
import { openaiResponses } from './openai-responses.js';

const USAGE = {
  input_tokens: 900,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 60,
  output_tokens_details: { reasoning_tokens: 10 },
};
const SEARCHED = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } };

const response = (tool_usage: unknown, usage: unknown = USAGE) => ({
  id: 'resp_1',
  status: 'completed',
  output: [SEARCHED, { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AA==' }],
  usage,
  tool_usage,
});

/** Whole, and as the last event of a stream that told of the search before. */
function usagesOf(told: object) {
  const reader = openaiResponses.streamReader();
  const done = { type: 'response.output_item.done', output_index: 0, item: SEARCHED };
  for (const event of [done, { type: 'response.completed', response: told }])
    reader.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  return [openaiResponses.readAnswer(told).usage, reader.answer().usage];
}

describe('what a response says beside its usage that tools of the vendor took', () => {
  it('is added: pictures are paid for by the token, and the usage leaves them out', () => {
    const image_gen = {
      input_tokens: 50,
      input_tokens_details: { image_tokens: 30, text_tokens: 20 },
      output_tokens: 4_160,
      total_tokens: 4_210,
    };
    for (const usage of usagesOf(response({ image_gen, web_search: { num_requests: 1 } })))
      expect(usage).toEqual({
        input_tokens: 950,
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 4_220,
        reasoning_tokens: 10,
        image_output_tokens: 4_160,
        search_count: 1,
      });
  });

  it('counts searches as the vendor charges for them, more than one of them for one item as well', () => {
    for (const [num_requests, search_count] of [
      [3, 3],
      [1, 1],
      [0, 1],
      [undefined, 1],
      ['3', 1],
    ] as const)
      for (const usage of usagesOf(response({ web_search: { num_requests } })))
        expect(usage?.search_count).toBe(search_count);
  });

  it('changes nothing where no tool took any, and is no usage by itself', () => {
    const image_gen = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    for (const told of [null, {}, [], 'x', { image_gen }, { image_gen: null, web_search: null }])
      for (const usage of usagesOf(response(told)))
        expect(usage).toEqual({
          input_tokens: 900,
          cached_input_tokens: 0,
          cache_write_tokens: 0,
          output_tokens: 60,
          reasoning_tokens: 10,
          search_count: 1,
        });
    for (const usage of usagesOf(response({ image_gen: { output_tokens: 9 } }, null)))
      expect(usage).toBeNull();
  });

  it('comes to the pictures of the answer itself', () => {
    const usage = { ...USAGE, output_tokens_details: { image_tokens: 7 } };
    for (const read of usagesOf(response({ image_gen: { output_tokens: 9 } }, usage)))
      expect(read).toMatchObject({ output_tokens: 69, image_output_tokens: 16 });
  });

  it.each([
    { input_tokens: 5, output_tokens: -1 },
    { input_tokens: -1, output_tokens: 5 },
  ])('leaves no sum with a count that is none: %j', (image_gen) => {
    for (const usage of usagesOf(response({ image_gen }))) expect(usage).toBeNull();
  });
});

it('says what is written to the cache for twelve hours, which costs twice as much', () => {
  const input_tokens_details = {
    cached_tokens: 0,
    cache_write_tokens: 800,
    cache_write_tokens_details: { ttl_12h_tokens: 300 },
  };
  const told = { ...response(undefined, { ...USAGE, input_tokens_details }), output: [] };
  for (const usage of usagesOf(told))
    expect(usage).toMatchObject({ cache_write_tokens: 800, cache_write_hour_tokens: 300 });
});
