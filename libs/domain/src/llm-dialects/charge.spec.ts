import { describe, expect, it } from 'vitest';
import { readCharge } from './charge.js';
import { DIALECT_BY_NAME } from './dialect-for.js';
import { readUsageAtEnd } from './usage-at-end.js';

describe('what a vendor says that an answer cost', () => {
  it.each([
    ['in xAI’s ticks', { cost_in_usd_ticks: 37_756_000 }, 0.0037756],
    ['by OpenRouter', { cost: 0.95, is_byok: false }, 0.95],
    // As it answered: a part of the same sum, not a second one.
    [
      'by OpenRouter, with what it paid for it',
      { cost: 0.00000285, is_byok: false, cost_details: { upstream_inference_cost: 0.00000285 } },
      0.00000285,
    ],
    [
      'by OpenRouter for a key of the caller’s own elsewhere',
      { cost: 0.95, is_byok: true, cost_details: { upstream_inference_cost: 19 } },
      19.95,
    ],
    ['by OpenRouter of a model that is free', { cost: 0 }, 0],
    ['by somebody who leaves what others say empty', { cost: 0.25, cost_in_usd_ticks: null }, 0.25],
    ['by Perplexity', { cost: { currency: 'USD', input_cost: 0.001, total_cost: 0.006 } }, 0.006],
    ['by one that names no currency', { cost: { total_cost: 0.006 } }, 0.006],
    ['of as much as an answer may cost', { cost: 10_000 }, 10_000],
  ])('is read %s', (_, usage, usd) => {
    expect(readCharge(usage)).toBeCloseTo(usd, 10);
  });

  it.each([
    ['nothing', {}],
    ['nothing of the key elsewhere', { cost: 0, is_byok: true, cost_details: {} }],
    ['what the key elsewhere took alone', { is_byok: true, cost_details: { upstream_inference_cost: 19 } }],
    ['another currency', { cost: { currency: 'EUR', total_cost: 1 } }],
    ['a text', { cost: '0.95' }],
    ['less than nothing', { cost: -1 }],
    ['more than any answer costs', { cost: 10_000.01 }],
    ['more than that in ticks', { cost_in_usd_ticks: 2 ** 53 }],
    ['no number', { cost: Number.NaN, cost_in_usd_ticks: null }],
    ['no sum', { cost: { input_cost: 1 } }],
  ])('is unknown where it says %s', (_, usage) => {
    expect(readCharge(usage)).toBeUndefined();
  });

  const chat = { prompt_tokens: 10, completion_tokens: 5, cost: 0.25 };
  const tokens = { input_tokens: 10, output_tokens: 5, cost_in_usd_ticks: 2_500_000_000 };

  it('is part of the usage of an answer in each dialect that has such vendors', () => {
    const read = (name: keyof typeof DIALECT_BY_NAME, body: object) =>
      DIALECT_BY_NAME[name].readAnswer(body).usage;
    expect(read('openai-chat', { usage: chat })).toMatchObject({ input_tokens: 10, charged_usd: 0.25 });
    expect(read('openai-responses', { usage: tokens })).toMatchObject({ charged_usd: 0.25 });
    expect(read('anthropic', { usage: tokens })).toMatchObject({ charged_usd: 0.25 });
    expect(readUsageAtEnd(`"x"}],"usage":${JSON.stringify(chat)}}`)).toMatchObject({ charged_usd: 0.25 });
  });

  it('is read where no tokens were taken: of pictures', () => {
    const end = '"url":"https://x"}],"usage":{"cost_in_usd_ticks":400000000}}';
    expect(readUsageAtEnd(end)).toMatchObject({ input_tokens: 0, charged_usd: 0.04 });
    expect(readUsageAtEnd('"usage":{"cost":0}}')).toBeNull();
  });

  it('is read of a stream at its end', () => {
    const usageOf = (name: keyof typeof DIALECT_BY_NAME, ...events: object[]) => {
      const reader = DIALECT_BY_NAME[name].streamReader();
      for (const event of events) reader.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
      return reader.answer().usage;
    };
    const delta = { choices: [{ index: 0, delta: { content: 'Hi' } }] };
    expect(usageOf('openai-chat', delta, { choices: [], usage: chat })).toMatchObject({ charged_usd: 0.25 });
    const completed = { type: 'response.completed', response: { status: 'completed', usage: tokens } };
    expect(usageOf('openai-responses', completed)).toMatchObject({ charged_usd: 0.25 });
    const start = { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } };
    const end = { type: 'message_delta', delta: {}, usage: { output_tokens: 5, cost: 0.25 } };
    expect(usageOf('anthropic', start, end)).toMatchObject({ input_tokens: 10, charged_usd: 0.25 });
  });
});
