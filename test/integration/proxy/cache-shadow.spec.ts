/** Shadow mode, with an embeddings API of the user's own: what would have been served is compared, and never served. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

const SOON = { timeout: 15_000, interval: 50 };
const KEY = 'sk-embeddings-canary-2f9a';

/** Texts with the same words, in any order, case and with any politeness, have the same vector. */
function embed(text: string): number[] {
  const vector = new Array<number>(16).fill(0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    if (word === 'please') continue;
    const at = [...word].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 16, 7);
    vector[at] = (vector[at] as number) + 1;
  }
  return vector;
}

let embeddings: Server;
let asked = 0;
let isAway = false;
let isHung = false;
beforeAll(async () => {
  embeddings = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (isAway || request.headers.authorization !== `Bearer ${KEY}`) return response.writeHead(503).end();
    const { input } = JSON.parse(body) as { input: string | string[] };
    asked += 1;
    if (isHung) return;
    const data = [input]
      .flat()
      .map((text, index) => ({ index, object: 'embedding', embedding: embed(text) }));
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => embeddings.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  expect(gateway.output()).not.toContain(KEY);
  embeddings.close();
});
startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  LLM_CACHE_BACKEND: 'memory',
  LLM_CACHE_EMBEDDING_PROVIDER: 'xinference',
  LLM_CACHE_EMBEDDING_MODEL: 'words',
  LLM_CACHE_EMBEDDING_BASE_URL: `http://127.0.0.1:${(embeddings.address() as AddressInfo).port}/v1`,
  LLM_CACHE_EMBEDDING_API_KEY: KEY,
}));

let serial = 0;
const ask = async (text: string, answer: string) => {
  serial += 1;
  upstream.script(always(openaiChat, { text: answer }));
  const headers = { 'x-observatory-session': `shadow-${serial}` };
  const seen = await openaiChat.ask(gateway.url, text, { headers, temperature: 0 });
  return seen.text;
};
const stats = async () => (await gateway.operator('GET', '/v1/cache/stats')).body;

test('an embeddings API that is slow to come is waited for by nobody, and used once it is there', async () => {
  await expect.poll(async () => (await stats()).embedding_model, SOON).toBe('words');
  expect(await stats()).toMatchObject({
    backend: 'memory',
    semantic_mode: 'shadow',
    hit_when_cosine_at_least: 0.92,
    wrong_hit_rate: null,
  });
});

test('a would-be hit goes upstream, and is reported with how the real answer compared', async () => {
  expect(await ask('Please, when does the library open?', 'It opens at nine.')).toBe('It opens at nine.');
  expect(await ask('when does the library open', 'It opens at nine.')).toBe('It opens at nine.');
  expect(upstream.calls).toHaveLength(1);
  await expect.poll(async () => (await stats()).shadow_agreed, SOON).toBe(1);
  expect(await ask('When does the library open?', 'Ask tool 7 for a list of closed days.')).toContain(
    'tool 7',
  );
  await expect.poll(async () => (await stats()).shadow_differed, SOON).toBe(1);
  expect(await stats()).toMatchObject({ semantic_hits: 0, shadow_hits: 2, wrong_hit_rate: 0.5 });
  const { items } = (await gateway.operator('GET', '/v1/cache/matches')).body;
  expect(items).toMatchObject([
    { served: false, agreed: false, prompt: 'When does the library open?' },
    { served: false, agreed: true, matched_prompt: 'Please, when does the library open?' },
  ]);
});

test('what differs in a number is vetoed, however near, and counted', async () => {
  await ask('What does page 3 of the report say', 'Three.');
  await ask('What does page 4 of the report say', 'Four.');
  expect((await stats()).vetoes).toMatchObject({ numbers: 1 });
  expect((await stats()).shadow_hits).toBe(2);
});

test('an embeddings API that hangs costs a few misses their wait, is left alone, and used once it answers again', async () => {
  isHung = true;
  const before = asked;
  const leftOut = async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/cache_embeddings_left_out_total (\d+)/.exec(text)?.[1]);
  };
  const question = () => `What hangs in hall ${'abcdefghij'[serial % 10]} of gallery ${serial}`;
  while ((await leftOut()) < 20) expect(await ask(question(), 'Pictures.')).toBe('Pictures.');
  expect(asked - before).toBeLessThan(10);
  isHung = false;
  const hung = asked;
  await expect
    .poll(async () => {
      await ask(question(), 'Pictures.');
      return asked;
    }, SOON)
    .toBeGreaterThan(hung + 3);
});

test('fails open when the embeddings API is away: exact matches go on', async () => {
  isAway = true;
  const before = asked;
  expect(await ask('Is anybody there to embed this?', 'No.')).toBe('No.');
  expect(await ask('Is anybody there to embed this?', 'Not asked.')).toBe('No.');
  expect(asked).toBe(before);
});
