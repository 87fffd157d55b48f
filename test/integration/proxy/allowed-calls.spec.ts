/** What an agent's policy does not let it ask for: other models than those that it lists, and calls of unknown cost. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { describe, expect, test } from 'vitest';
import { respondJson } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, VENDORS } from './vendors.js';

startOneGateway((origin) => upstreamsAt(origin));

const base = (agent: string, name: string) => `${gateway.url}/agents/${agent}/proxy/${name}`;
const openai = (agent: string) =>
  new OpenAI({ baseURL: `${base(agent, 'openai')}/v1`, apiKey: AGENT_KEY, maxRetries: 3 });
const anthropic = (agent: string) =>
  new Anthropic({ baseURL: base(agent, 'anthropic'), apiKey: AGENT_KEY, maxRetries: 3 });
const gemini = (agent: string) =>
  new GoogleGenAI({ apiKey: AGENT_KEY, httpOptions: { baseUrl: base(agent, 'gemini') } });

const setPolicy = async (agent: string, policy: object) =>
  expect(await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, policy)).toMatchObject({
    status: 200,
    body: policy,
  });
const lastCall = async (agent: string) =>
  (await gateway.operator('GET', `/v1/calls?agent_id=${agent}&limit=1`)).body.items[0];
const answerAnything = () =>
  upstream.script((_call, response) => respondJson(response, 200, { id: 'some_1', data: [], name: 'one' }));
const question = { messages: [{ role: 'user' as const, content: 'Where is my order?' }] };

describe.each(VENDORS)('$name', (vendor) => {
  test('another model than those that are allowed is refused, without a retry, and an allowed one answers', async () => {
    const agent = `models-${vendor.name.replaceAll(/\W+/g, '-')}`;
    upstream.script(always(vendor, { text: 'It is on its way.' }));
    await setPolicy(agent, { allowed_models: ['none-such', 'other-*'] });
    for (const ask of [vendor.ask, vendor.askStreaming]) {
      const asked = ask(gateway.url, 'Where is my order?', { agent, maxRetries: 3 });
      await expect(asked).rejects.toMatchObject({
        status: 403,
        message: expect.stringMatching(/may not use .+ Allowed: none-such, other-\*;/),
      });
    }
    expect(upstream.calls).toHaveLength(0);
    await expect.poll(() => lastCall(agent)).toMatchObject({ decision: 'not_allowed', cost_usd: 0 });
    const { model } = await lastCall(agent);
    await setPolicy(agent, { allowed_models: ['none-such', model] });
    expect(await vendor.ask(gateway.url, 'Where is my order?', { agent })).toMatchObject({
      text: 'It is on its way.',
    });
  });
});

test.each([
  ['a router may fall back to', { models: ['gpt-4o-mini', 'gpt-5-pro'] }, '"gpt-5-pro"'],
  ['a vendor may fall back to', { fallbacks: [{ model: 'gpt-5-pro' }] }, '"gpt-5-pro"'],
  ['a vendor chooses to fall back to', { fallbacks: 'default' }, '"default"'],
  [
    'a plugin of a router asks',
    { plugins: [{ id: 'fusion', analysis_models: ['gpt-5-pro'] }] },
    '"gpt-5-pro"',
  ],
  ['a tool of the vendor asks', { tools: [{ type: 'advisor', model: 'gpt-5-pro' }] }, '"gpt-5-pro"'],
])('a model that %s is named as well', async (_, more, named) => {
  await setPolicy('more-models', { allowed_models: ['gpt-4o-mini'] });
  answerAnything();
  const body = { model: 'gpt-4o-mini', ...question, ...more };
  await expect(openai('more-models').post('/chat/completions', { body })).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining(named),
  });
  expect(upstream.calls).toHaveLength(0);
});

test('the deployment in the path counts, whatever model the body names', async () => {
  await setPolicy('deployed', { allowed_models: ['gpt-4o-mini'] });
  answerAnything();
  const body = { model: 'gpt-4o-mini', ...question };
  const path = (name: string) => `/openai/deployments/${name}/chat/completions`;
  const asked = openai('deployed').post(path('gpt-5-pro'), { body });
  await expect(asked).rejects.toMatchObject({ status: 403, message: expect.stringContaining('"gpt-5-pro"') });
  expect(await openai('deployed').post(path('gpt-4o-mini'), { body })).toMatchObject({ id: 'some_1' });
});

test.each([
  ['twice', '{"model":"text-embedding-3-small","input":"a","model":"text-embedding-3-large"}', ''],
  [
    'in another case too',
    '{"model":"text-embedding-3-small","Model":"text-embedding-3-large","input":"a"}',
    '',
  ],
  ['in another charset', '{"model":"text-embedding-3-small","input":"a"}', '; charset=utf-7'],
])('a model that is named %s passes as none that is allowed', async (_, body, charset) => {
  await setPolicy('embedder', { allowed_models: ['text-embedding-3-small'] });
  answerAnything();
  const embed = (text: string, parameter: string) =>
    fetch(`${base('embedder', 'openai')}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': `application/json${parameter}` },
      body: text,
    });
  expect((await embed(body, charset)).status).toBe(403);
  expect(upstream.calls).toHaveLength(0);
  expect((await embed('{"model":"text-embedding-3-small","input":"a"}', '')).status).toBe(200);
});

test('what names no model that can be read is refused to who may use only some, and what costs nothing is not', async () => {
  await setPolicy('some-models', { allowed_models: ['gpt-4o-mini', 'text-embedding-3-small'] });
  answerAnything();
  const client = openai('some-models');
  const sound = await toFile(Buffer.from('RIFF'), 'a.wav');
  for (const asked of [
    client.batches.create({ completion_window: '24h', endpoint: '/v1/chat/completions', input_file_id: 'f' }),
    client.audio.transcriptions.create({ model: 'gpt-4o-mini', file: sound }),
  ])
    await expect(asked).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('names no model that can be read'),
    });
  expect(upstream.calls).toHaveLength(0);
  await client.models.list();
  await client.files.create({ purpose: 'batch', file: sound });
  await client.embeddings.create({ model: 'text-embedding-3-small', input: 'hi' });
  expect(upstream.calls).toHaveLength(3);
});

test("an allowed model is allowed under Google's whole name for it", async () => {
  await setPolicy('whole-name', { allowed_models: ['gemini-2.5-flash'] });
  answerAnything();
  await gemini('whole-name').caches.create({
    model: 'gemini-2.5-flash',
    config: { systemInstruction: 'Be kind.' },
  });
  expect(upstream.calls).toMatchObject([{ json: { model: 'models/gemini-2.5-flash' } }]);
  const chat = (model: string) =>
    fetch(`${base('whole-name', 'gemini')}/v1beta/openai/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...question }),
    });
  expect((await chat('models/gemini-2.5-flash')).status).toBe(200);
  expect((await chat('models/gemini-2.5-pro')).status).toBe(403);
});

describe('calls of unknown cost', () => {
  const batch = { custom_id: 'one', params: { model: 'claude-haiku-4-5', max_tokens: 9, ...question } };
  const asks: [string, (agent: string) => Promise<unknown>][] = [
    [
      'a batch of OpenAI',
      (agent) =>
        openai(agent).batches.create({
          completion_window: '24h',
          endpoint: '/v1/chat/completions',
          input_file_id: 'f',
        }),
    ],
    ['a batch of Anthropic', (agent) => anthropic(agent).messages.batches.create({ requests: [batch] })],
    [
      'a batch of Gemini',
      (agent) => gemini(agent).batches.create({ model: 'gemini-2.5-flash', src: { inlinedRequests: [] } }),
    ],
    [
      'fine-tuning',
      (agent) => openai(agent).fineTuning.jobs.create({ model: 'gpt-4o-mini', training_file: 'f' }),
    ],
    ['a picture', (agent) => openai(agent).images.generate({ model: 'gpt-image-1', prompt: 'a cat' })],
    [
      'a recording',
      async (agent) =>
        openai(agent).audio.transcriptions.create({
          model: 'whisper-1',
          file: await toFile(Buffer.from('RIFF'), 'a.wav'),
        }),
    ],
    [
      'a model without a price',
      (agent) => openai(agent).chat.completions.create({ model: 'nobodys-model', ...question }),
    ],
  ];

  test.each(asks)('%s passes, until the policy refuses what nobody can price', async (_, ask) => {
    const agent = 'unpriced';
    answerAnything();
    await setPolicy(agent, { unknown_cost: 'pass', budget_day_usd: 5 });
    await ask(agent);
    expect(upstream.calls).toHaveLength(1);
    await setPolicy(agent, { unknown_cost: 'refuse' });
    await expect(ask(agent)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('Nobody can tell beforehand what this call costs'),
    });
    expect(upstream.calls).toHaveLength(1);
    await expect.poll(() => lastCall(agent)).toMatchObject({ decision: 'not_allowed', cost_usd: 0 });
  });

  test('are refused after a restart too, and what has a price or costs nothing is not', async () => {
    await setPolicy('priced', { unknown_cost: 'refuse' });
    await gateway.stop();
    await startAgain();
    answerAnything();
    const client = openai('priced');
    const images = client.images.generate({ model: 'gpt-image-1', prompt: 'a cat' });
    await expect(images).rejects.toMatchObject({ status: 403, code: 'cost_unknown' });
    expect(upstream.calls).toHaveLength(0);
    await client.chat.completions.create({ model: 'gpt-4o-mini', ...question });
    await client.embeddings.create({ model: 'text-embedding-3-small', input: 'hi' });
    await client.batches.retrieve('b');
    await client.batches.cancel('b');
    await client.files.create({ purpose: 'batch', file: await toFile(Buffer.from('{}'), 'a.jsonl') });
    await anthropic('priced').messages.countTokens({ model: 'claude-haiku-4-5', ...question });
    expect(upstream.calls).toHaveLength(6);
  });
});

test.each([
  [{ allowed_models: [] }, 'allowed_models'],
  [{ allowed_models: [' '] }, 'allowed_models'],
  [{ allowed_models: 'gpt-5' }, 'allowed_models'],
  [{ unknown_cost: 'maybe' }, 'unknown_cost'],
])('%j is refused, and named', async (policy, field) => {
  const { status, body } = await gateway.operator('PATCH', '/v1/agents/refused/policy', policy);
  expect(status).toBe(422);
  expect(body.fields[0]).toMatch(field);
});
