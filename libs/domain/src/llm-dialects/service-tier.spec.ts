import { expect, it } from 'vitest';
import { DIALECT_BY_NAME } from './dialect-for.js';

type Name = keyof typeof DIALECT_BY_NAME;
const RESPONSE = { object: 'response', status: 'completed', output: [] };
/** How each vendor says it, and what it is. */
const SAID: [Name, object, string | undefined][] = [
  ['openai-chat', { choices: [], service_tier: 'flex' }, 'flex'],
  ['openai-chat', { choices: [], service_tier: 'default' }, undefined],
  ['openai-chat', { choices: [], service_tier: 'on_demand' }, undefined],
  ['openai-chat', { choices: [], service_tier: null }, undefined],
  ['openai-responses', { ...RESPONSE, service_tier: 'priority' }, 'priority'],
  ['openai-responses', { ...RESPONSE, service_tier: 'auto' }, undefined],
  ['anthropic', { usage: { output_tokens: 1, service_tier: 'priority', speed: 'standard' } }, 'priority'],
  ['anthropic', { usage: { output_tokens: 1, service_tier: 'standard', speed: 'fast' } }, 'fast'],
  ['anthropic', { usage: { output_tokens: 1, service_tier: 'standard' } }, undefined],
  ['anthropic', { usage: { output_tokens: 1, service_tier: 'standard', inference_geo: 'us' } }, 'us'],
  ['anthropic', { usage: { output_tokens: 1, speed: 'fast', inference_geo: 'us' } }, 'fast us'],
  ['anthropic', { usage: { output_tokens: 1, inference_geo: 'global' } }, undefined],
  ['anthropic', { usage: { output_tokens: 1, inference_geo: 'GLOBAL' } }, undefined],
  ['anthropic', { usage: { output_tokens: 1, inference_geo: 'not_available' } }, undefined],
  ['gemini', { usageMetadata: { serviceTier: 'FLEX' } }, 'flex'],
  ['gemini', { usageMetadata: { serviceTier: 'unspecified' } }, undefined],
  ['gemini', { usageMetadata: { trafficType: 'ON_DEMAND_PRIORITY' } }, 'priority'],
  ['gemini', { usageMetadata: { trafficType: 'PROVISIONED_THROUGHPUT' } }, 'provisioned_throughput'],
  ['gemini', { usageMetadata: { trafficType: 'ON_DEMAND' } }, undefined],
];

it.each(SAID)('%s says the tier of %j', (name, answer, tier) => {
  expect(DIALECT_BY_NAME[name].readAnswer(answer).service_tier).toBe(tier);
});

it.each(SAID)('%s says in its stream the tier of %j', (name, answer, tier) => {
  const reader = DIALECT_BY_NAME[name].streamReader();
  const event =
    name === 'openai-responses'
      ? { type: 'response.completed', response: answer }
      : name === 'anthropic'
        ? { type: 'message_start', message: answer }
        : answer;
  const next = name === 'anthropic' ? { type: 'message_delta', delta: {}, usage: { output_tokens: 9 } } : {};
  reader.push(Buffer.from(`data: ${JSON.stringify(event)}\n\ndata: ${JSON.stringify(next)}\n\n`));
  reader.end();
  expect(reader.answer().service_tier).toBe(tier);
});
