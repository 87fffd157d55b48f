/** Vendors that say what an answer cost are believed: real gateway, scripted upstream, prices as they come. */
import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { respondEvents, respondJson } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

startOneGateway((origin) => ({ ...upstreamsAt(origin), LLM_CACHE_BACKEND: 'memory' }));

const UNPRICED = 'z-ai/glm-of-tomorrow';
const TOKENS = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
const MESSAGE = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } };

const client = (agent: string) =>
  new OpenAI({
    baseURL: `${gateway.url}/agents/${agent}/proxy/openai/v1`,
    apiKey: AGENT_KEY,
    maxRetries: 0,
  });

const ask = (agent: string, model = UNPRICED, content = `Question ${randomUUID()}`) =>
  client(agent).chat.completions.create({
    model,
    max_tokens: 500,
    temperature: 0,
    messages: [{ role: 'user', content }],
  });
async function askStreaming(agent: string): Promise<void> {
  const stream = await client(agent).chat.completions.create({
    model: UNPRICED,
    max_tokens: 500,
    stream: true,
    messages: [{ role: 'user', content: `A long question of ${agent}` }],
  });
  for await (const _chunk of stream);
}

/** Each answer of the upstream tells this beside its tokens. */
const charging = (told: object) =>
  upstream.script((call, response) =>
    respondJson(response, 200, {
      id: 'c',
      object: 'chat.completion',
      model: (call.json as { model: string }).model,
      choices: [MESSAGE],
      usage: { ...TOKENS, ...told },
    }),
  );
const newestOf = async (agent: string) =>
  (await gateway.operator('GET', `/v1/calls?agent_id=${agent}&limit=1`)).body.items[0];
const spendOf = async (agent: string) =>
  (await gateway.operator('GET', `/v1/agents/${agent}`)).body.spend.hour;

test('a model that no price knows costs what its vendor says, which a budget counts', async () => {
  const { status } = await gateway.operator('PATCH', '/v1/agents/routed/policy', { budget_hour_usd: 0.5 });
  expect(status).toBe(200);
  charging({ cost: 0.3, is_byok: false, cost_details: { upstream_inference_cost: 0.3 } });
  await ask('routed');
  expect(await newestOf('routed')).toMatchObject({ cost_usd: 0.3, usage: { charged_usd: 0.3 } });
  await ask('routed');
  await expect(ask('routed')).rejects.toMatchObject({ status: 429 });
  expect(await spendOf('routed')).toMatchObject({ spent_usd: 0.6, unpriced_call_count: 0 });
});

test('what is charged counts in place of a price, and nothing charged only where there is none', async () => {
  charging({ cost_in_usd_ticks: 12_340_000_000 });
  await ask('priced', 'gpt-4o-mini');
  expect((await newestOf('priced')).cost_usd).toBe(1.234);
  charging({ cost: 0 });
  await ask('priced', 'gpt-4o-mini');
  // 1,000 tokens at $0.15 and 500 at $0.60 a million.
  expect((await newestOf('priced')).cost_usd).toBe(0.00045);
  await ask('priced');
  expect(await newestOf('priced')).toMatchObject({ cost_usd: 0, usage: { charged_usd: 0 } });
});

test('a stream costs what it says at its end; of one that breaks off before, what went by', async () => {
  const delta = { id: 'c', model: UNPRICED, choices: [{ index: 0, delta: { content: 'Done.' } }] };
  const end = { id: 'c', model: UNPRICED, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  const told = { id: 'c', model: UNPRICED, choices: [], usage: { ...TOKENS, cost: 0.02 } };
  const events = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  upstream.script((_call, response) =>
    respondEvents(response, [...events(delta, end, told), 'data: [DONE]\n\n']),
  );
  await askStreaming('streaming');
  await expect.poll(async () => (await newestOf('streaming'))?.cost_usd).toBe(0.02);
  upstream.script((_call, response) => respondEvents(response, events({ ...delta, usage: told.usage })));
  await askStreaming('broken').catch(() => {});
  await expect.poll(async () => await newestOf('broken')).toMatchObject({ cost_usd: null });
});

test('an answer from the cache costs nothing, and saves what was charged for it', async () => {
  charging({ cost: 0.3 });
  await ask('saving', UNPRICED, 'What is the capital of France?');
  await ask('saving', UNPRICED, 'What is the capital of France?');
  expect(await newestOf('saving')).toMatchObject({
    decision: 'cached',
    cost_usd: 0,
    cache: { saved_usd: 0.3 },
  });
});

test('pictures, of whose price tokens say nothing, cost what their vendor says', async () => {
  upstream.script((_call, response) =>
    respondJson(response, 200, { data: [{ url: 'https://x.test/1' }], usage: { cost_in_usd_ticks: 4e8 } }),
  );
  await client('painting').images.generate({ model: 'grok-imagine', prompt: 'A cat' });
  expect((await newestOf('painting')).cost_usd).toBe(0.04);
});
