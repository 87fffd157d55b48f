/**
 * Settings of the semantic loop and of the cache's matching, each with another value than its default, as those notice them
 * whom they are for: the sidecar that is asked, the model, the caller.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EmbeddingServer, serveEmbedding } from '#adapters/grpc';
import type { LoopQuery, LoopSimilarity } from '#contracts';
import { buildLoopAnswer, buildSidecarDescription } from '#testing';
import { startGateway } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

const SOON = { timeout: 15_000, interval: 50 };
const HINT = 'Think of another way.';

const folder = mkdtempSync(join(tmpdir(), 'obs-set-'));
const socketPath = join(folder, 'e.sock');
let sidecar: EmbeddingServer;
let checked: LoopQuery[] = [];
let embedded: string[] = [];
let isLoop = false;

/** What begins with "Please" is at a cosine of 0.8 from what does not. */
const vectorOf = (text: string): Float32Array =>
  Float32Array.from(/^Please/.test(text) ? [0.8, 0.6] : [1, 0]);

beforeAll(async () => {
  sidecar = await serveEmbedding({
    socketPath,
    drainTimeoutMs: 50,
    handlers: {
      checkLoop: async (query) => {
        checked.push(query);
        return buildLoopAnswer({
          loop_detected: isLoop,
          max_similarity: 0.98 as LoopSimilarity,
          threshold: query.threshold ?? (0.95 as LoopSimilarity),
        });
      },
      embed: async (text) => {
        embedded.push(text);
        return { fitness: 'fit', vector: vectorOf(text), model_id: 'scripted' };
      },
      describe: () => buildSidecarDescription(),
    },
  });
});
startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  LOOP_DETECTION_ENABLED: 'true',
  LOOP_EMBEDDING_SIDECAR_UDS: socketPath,
  // A machine that runs other tests beside may take its time for an answer.
  LOOP_EMBEDDING_SIDECAR_TIMEOUT: '5s',
  LOOP_SIMILARITY_THRESHOLD: '0.97',
  LOOP_INTERVENTION_MESSAGE: HINT,
  LLM_CACHE_BACKEND: 'memory',
  LLM_CACHE_SEMANTIC: 'on',
  LLM_CACHE_SIMILARITY: '0.75',
}));
afterAll(async () => {
  await sidecar.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  [checked, embedded, isLoop] = [[], [], false];
  upstream.script(always(openaiChat, { text: 'Bern.' }));
  await serving(gateway);
});

const serving = ({ operator }: Pick<typeof gateway, 'operator'>) =>
  expect.poll(async () => (await operator('GET', '/v1/system')).body.sidecar.state, SOON).toBe('serving');

let serial = 0;
const ask = (text: string, url = gateway.url) => {
  serial += 1;
  const headers = { 'x-observatory-session': `set-${serial}` };
  return openaiChat.ask(url, text, { temperature: 0, headers });
};

test('LOOP_SIMILARITY_THRESHOLD goes to the sidecar, and LOOP_INTERVENTION_MESSAGE to the model', async () => {
  isLoop = true;
  await ask('Which town is the capital of Switzerland?');
  expect(checked).toMatchObject([{ threshold: 0.97 }]);
  expect(upstream.calls[0]?.json).toMatchObject({ messages: [{ role: 'system', content: HINT }, {}] });
});

test('LLM_CACHE_SIMILARITY is from which cosine on a question is answered by the answer to another', async () => {
  await ask('Which river flows through Bern?');
  await ask('Please, which river flows through Bern?');
  expect(embedded).toHaveLength(2);
  expect(upstream.calls).toHaveLength(1);
});

test('without LOOP_DETECTION_ENABLED no prompt is compared with earlier ones, though the cache uses the sidecar', async () => {
  const other = await startGateway({
    env: {
      ...upstreamsAt(upstream.origin),
      LOOP_DETECTION_ENABLED: 'false',
      LOOP_EMBEDDING_SIDECAR_UDS: socketPath,
      LOOP_EMBEDDING_SIDECAR_TIMEOUT: '5s',
      LLM_CACHE_BACKEND: 'memory',
    },
  });
  try {
    await serving(other);
    await ask('Which lake lies at Zurich?', other.url);
    expect(embedded).toHaveLength(1);
    expect(checked).toHaveLength(0);
  } finally {
    expect(await other.stop()).toBe(0);
  }
});

test('LLM_CACHE_SEMANTIC=off asks for no vector', async () => {
  const other = await startGateway({
    env: {
      ...upstreamsAt(upstream.origin),
      LOOP_DETECTION_ENABLED: 'true',
      LOOP_EMBEDDING_SIDECAR_UDS: socketPath,
      LOOP_EMBEDDING_SIDECAR_TIMEOUT: '5s',
      LLM_CACHE_BACKEND: 'memory',
      LLM_CACHE_SEMANTIC: 'off',
    },
  });
  try {
    await serving(other);
    await ask('Which mountain is the highest of Switzerland?', other.url);
    expect(checked).toMatchObject([{ threshold: null }]);
    expect(embedded).toHaveLength(0);
  } finally {
    expect(await other.stop()).toBe(0);
  }
});
