import { expect, it } from 'vitest';
import { DIALECT_BY_NAME } from './dialect-for.js';
import { usageOf } from './usage.js';

/** -1 in 32 bits without a sign, and in 53. */
const MISTAKES = [-1, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER, 1e18, 1e308, 0.5, '9'];
const NAMES = Object.keys(DIALECT_BY_NAME) as (keyof typeof DIALECT_BY_NAME)[];
const COUNTS = {
  'openai-chat': (input: unknown, output: unknown) => ({
    usage: { prompt_tokens: input, completion_tokens: output },
  }),
  'openai-responses': (input: unknown, output: unknown) => ({
    usage: { input_tokens: input, output_tokens: output },
  }),
  anthropic: (input: unknown, output: unknown) => ({ usage: { input_tokens: input, output_tokens: output } }),
  gemini: (input: unknown, output: unknown) => ({
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
  }),
  'gemini-interactions': (input: unknown, output: unknown) => ({
    usage: { total_input_tokens: input, total_output_tokens: output },
  }),
};

it.each(NAMES)('a count that no answer has is none: %s', (name) => {
  const usageOf = (input: unknown, output: unknown) =>
    DIALECT_BY_NAME[name].readAnswer(COUNTS[name](input, output)).usage;
  expect(usageOf(1_000_000_000, 3)).toMatchObject({ input_tokens: 1_000_000_000, output_tokens: 3 });
  for (const mistake of MISTAKES) expect(usageOf(mistake, mistake)).toBeNull();
});

it.each(NAMES)(
  'beside a count that is none the other says not what was used, as half of a bill: %s',
  (name) => {
    const usageOf = (input: unknown, output: unknown) =>
      DIALECT_BY_NAME[name].readAnswer(COUNTS[name](input, output)).usage;
    for (const mistake of MISTAKES) {
      expect(usageOf(9, mistake)).toBeNull();
      expect(usageOf(mistake, 9)).toBeNull();
    }
    for (const absent of [undefined, null]) {
      expect(usageOf(9, absent)).toMatchObject({ input_tokens: 9, output_tokens: 0 });
      expect(usageOf(absent, 9)).toMatchObject({ input_tokens: 0, output_tokens: 9 });
    }
  },
);

it.each<[(typeof NAMES)[number], string]>([
  ['anthropic', 'cache_read_input_tokens'],
  ['anthropic', 'cache_creation_input_tokens'],
  ['gemini', 'thoughtsTokenCount'],
  ['gemini', 'toolUsePromptTokenCount'],
  ['gemini-interactions', 'total_thought_tokens'],
  ['gemini-interactions', 'total_tool_use_tokens'],
])('a count that is none leaves no sum that it is a part of: %s, %s', (name, part) => {
  const { usage, usageMetadata } = { usage: {}, usageMetadata: {}, ...COUNTS[name](9, 3) };
  const usageWith = (count: unknown) =>
    DIALECT_BY_NAME[name].readAnswer({
      usage: { ...usage, [part]: count },
      usageMetadata: { ...usageMetadata, [part]: count },
    }).usage;
  for (const mistake of MISTAKES) expect(usageWith(mistake)).toBeNull();
  expect(usageWith(null)).toMatchObject({ input_tokens: 9, output_tokens: 3 });
});

it('anthropic: a count that is none leaves no sum with what was done beside the message', () => {
  const iterations = [{ type: 'compaction', input_tokens: 1e18, output_tokens: 4 }];
  const usage = { input_tokens: 9, output_tokens: 3, iterations };
  expect(DIALECT_BY_NAME.anthropic.readAnswer({ usage }).usage).toBeNull();
});

it.each<[(typeof NAMES)[number], (output: unknown) => object]>([
  ['openai-chat', (output) => ({ choices: [], usage: { prompt_tokens: 9, completion_tokens: output } })],
  ['gemini', (output) => ({ usageMetadata: { promptTokenCount: 9, candidatesTokenCount: output } })],
])('%s: in a stream what was told before a count that is none is not what was used', (name, event) => {
  const reader = DIALECT_BY_NAME[name].streamReader();
  const tell = (output: unknown) => reader.push(Buffer.from(`data: ${JSON.stringify(event(output))}\n\n`));
  tell(1);
  expect(reader.answer().usage).toMatchObject({ input_tokens: 9, output_tokens: 1 });
  tell(1e18);
  expect(reader.answer().usage).toBeNull();
  tell(40);
  expect(reader.answer().usage).toMatchObject({ input_tokens: 9, output_tokens: 40 });
});

it('a total that no answer has says nothing of what was left out of the completion', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: Number.MAX_SAFE_INTEGER };
  expect(DIALECT_BY_NAME['openai-chat'].readAnswer({ usage }).usage).toMatchObject({ output_tokens: 3 });
});

it.each<[(typeof NAMES)[number], object]>([
  [
    'openai-chat',
    {
      usage: {
        prompt_tokens: 20,
        completion_tokens: 9,
        prompt_tokens_details: { audio_tokens: 12 },
        completion_tokens_details: { audio_tokens: 5, image_tokens: 0 },
      },
    },
  ],
  [
    'openai-responses',
    {
      usage: {
        input_tokens: 20,
        output_tokens: 9,
        input_tokens_details: { audio_tokens: 12 },
        output_tokens_details: { audio_tokens: 5 },
      },
    },
  ],
  [
    'gemini',
    {
      usageMetadata: {
        promptTokenCount: 16,
        toolUsePromptTokenCount: 4,
        candidatesTokenCount: 9,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 2 },
          { modality: 'IMAGE', tokenCount: 5 },
          { modality: 'AUDIO', tokenCount: 9 },
        ],
        toolUsePromptTokensDetails: [
          { modality: 'TEXT', tokenCount: 1 },
          { modality: 'AUDIO', tokenCount: 3 },
        ],
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
      },
    },
  ],
  [
    'gemini-interactions',
    {
      usage: {
        total_input_tokens: 20,
        total_output_tokens: 9,
        input_tokens_by_modality: [
          { modality: 'text', tokens: 8 },
          { modality: 'audio', tokens: 12 },
        ],
        output_tokens_by_modality: [{ modality: 'audio', tokens: 5 }],
      },
    },
  ],
])('%s counts sound apart from text', (name, body) => {
  const usage = DIALECT_BY_NAME[name].readAnswer(body).usage;
  expect(usage).toMatchObject({ input_tokens: 20, audio_input_tokens: 12, output_tokens: 9 });
  expect(usage).toMatchObject({ audio_output_tokens: 5 });
  expect(usage).not.toHaveProperty('image_output_tokens');
});

it.each<[(typeof NAMES)[number], object]>([
  [
    'openai-chat',
    {
      usage: {
        prompt_tokens: 20,
        completion_tokens: 1_300,
        completion_tokens_details: { image_tokens: 1_290 },
      },
    },
  ],
  [
    'gemini',
    {
      usageMetadata: {
        promptTokenCount: 20,
        candidatesTokenCount: 1_300,
        // A kind that is named without its number has none.
        candidatesTokensDetails: [{ modality: 'IMAGE' }, { modality: 'IMAGE', tokenCount: 1_290 }],
      },
    },
  ],
  [
    'gemini-interactions',
    {
      usage: {
        total_input_tokens: 20,
        total_output_tokens: 1_300,
        output_tokens_by_modality: [{ modality: 'image' }, { modality: 'image', tokens: 1_290 }],
      },
    },
  ],
])('%s counts pictures that it writes apart from text', (name, body) => {
  const usage = DIALECT_BY_NAME[name].readAnswer(body).usage;
  expect(usage).toMatchObject({ output_tokens: 1_300, image_output_tokens: 1_290 });
  expect(usage).not.toHaveProperty('audio_output_tokens');
});

it('cuts every part to what its whole has left for it', () => {
  expect(
    usageOf({
      input: 10,
      cachedInput: 7,
      cacheWrite: 9,
      cacheWriteHour: 9,
      output: 8,
      reasoning: 9,
      audioInput: 11,
      audioOutput: 5,
      imageOutput: 9,
    }),
  ).toEqual({
    input_tokens: 10,
    cached_input_tokens: 7,
    cache_write_tokens: 3,
    cache_write_hour_tokens: 3,
    output_tokens: 8,
    reasoning_tokens: 8,
    audio_input_tokens: 10,
    audio_output_tokens: 5,
    image_output_tokens: 3,
  });
});

it('names one search, one token of an hour, of sound and of a picture, and none that was not there', () => {
  const plain = { cached_input_tokens: 0, reasoning_tokens: 0 };
  const one = usageOf({
    input: 2,
    cacheWrite: 1,
    cacheWriteHour: 1,
    output: 2,
    audioInput: 1,
    audioOutput: 1,
    imageOutput: 1,
  });
  expect(one).toEqual({
    ...plain,
    input_tokens: 2,
    cache_write_tokens: 1,
    cache_write_hour_tokens: 1,
    output_tokens: 2,
    audio_input_tokens: 1,
    audio_output_tokens: 1,
    image_output_tokens: 1,
  });
  expect(usageOf({ searches: 1, fileSearches: 1 })).toMatchObject({ search_count: 1, file_search_count: 1 });
  expect(usageOf({ searches: 1 })).not.toHaveProperty('search_preview_count');
  expect(usageOf({ arePreviews: true })).toEqual({
    ...plain,
    input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
  });
});

it('reads what Kimi took from its cache, which stands beside the counts, and the details before it', () => {
  const usage = { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32, cached_tokens: 12 };
  const cachedOf = (usage: object) =>
    DIALECT_BY_NAME['openai-chat'].readAnswer({ usage }).usage?.cached_input_tokens;
  expect(cachedOf(usage)).toBe(12);
  expect(cachedOf({ ...usage, prompt_tokens_details: { cached_tokens: 10 } })).toBe(10);
});

it('reads what those behind OpenRouter wrote to a cache, which costs more than input', () => {
  const prompt_tokens_details = { cached_tokens: 4, cache_write_tokens: 10 };
  const usage = { prompt_tokens: 19, completion_tokens: 13, prompt_tokens_details };
  expect(DIALECT_BY_NAME['openai-chat'].readAnswer({ usage }).usage).toMatchObject({
    input_tokens: 19,
    cached_input_tokens: 4,
    cache_write_tokens: 10,
  });
});
