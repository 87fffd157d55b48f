import { expect, it } from 'vitest';
import type { LlmAnswer, ModelPrice } from '#contracts';
import { buildLlmAnswer } from '#testing';
import { buildProxyCall } from '../proxy-call.fixture.js';
import { costOf, noteUnpriced } from './cost-of-call.js';
import { byToken } from './used-by-call.js';

const USAGE = {
  input_tokens: 20,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 7,
  reasoning_tokens: 0,
};

/** What the record of a call says that was answered so. */
function noted(answer: Partial<LlmAnswer>, cost: number | null = null): string | null {
  const call = buildProxyCall();
  call.answer = buildLlmAnswer(answer);
  noteUnpriced(call, cost);
  return call.detail;
}

it.each<[string, Partial<LlmAnswer>]>([
  [
    'Answered in the service tier flex: its price is that of the model with [flex] behind its name.',
    { service_tier: 'flex' },
  ],
  [
    'Took tokens of sound or pictures: its price is that of the model with [audio], and with [image] behind its name.',
    { usage: { ...USAGE, audio_input_tokens: 3, image_output_tokens: 1 } },
  ],
  [
    'Answered in the service tier flex: its price is that of the model with [flex], and with [flex audio] behind its name.',
    { service_tier: 'flex', usage: { ...USAGE, audio_input_tokens: 3 } },
  ],
])('%s', (detail, answer) => {
  expect(noted(answer)).toBe(detail);
  expect(noted(answer, 12)).toBeNull();
});

it('says nothing of a model without a price, whose name alone is missing', () => {
  expect(noted({ usage: USAGE })).toBeNull();
  expect(noted({})).toBeNull();
});

const PRICE = { input_usd: 1, output_usd: 1, cached_input_usd: null, cache_write_usd: null } as ModelPrice;
const costAt = (price: ModelPrice | null, changes: object) =>
  costOf({ price: () => price }, buildProxyCall(), byToken({ ...USAGE, ...changes }));

it('is what the vendor charged, to the micro-dollar, whatever the price; nothing charged is believed without one', () => {
  for (const price of [PRICE, null]) expect(costAt(price, { charged_usd: 0.1234567 })).toBe(123_457);
  expect(costAt(PRICE, { charged_usd: 0 })).toBe(27);
  expect(costAt(null, { charged_usd: 0 })).toBe(0);
  expect(costAt(null, {})).toBeNull();
});

it('is that of a long prompt where text and sound make it one together', () => {
  const long = { ...PRICE, long_prompt_tokens: 15, long_prompt_factor: 3 };
  expect(costAt(long, { audio_input_tokens: 10 })).toBe(3 * 27);
});
