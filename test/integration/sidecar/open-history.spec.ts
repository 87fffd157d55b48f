/** What the store of prompts leaves behind where it cannot be had. */
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import type { Cosine, LoopSimilarity } from '#contracts';
import { parseConfig, parseSecrets } from '#domain/sidecar-settings';
import { steadyClock } from '#kernel';
import { RedisError, ScriptedRedis } from '#testing';
import { openHistory } from '../../../apps/embedding-sidecar/src/open-history.js';
import { SidecarTelemetry } from '../../../apps/embedding-sidecar/src/telemetry.js';

const EMBEDDER = {
  model_id: 'test/model',
  dimension: 8,
  tokens_max: 100,
  loopWhenSimilarityAbove: 0.95 as LoopSimilarity,
  hitWhenCosineAtLeast: 0.92 as Cosine,
  needsStrictGate: false,
};
const telemetry = () => new SidecarTelemetry(pino({ level: 'silent' }), steadyClock, null);

it('a Redis keeps as many prompts as it is told to, for as long', async () => {
  const redis = await new ScriptedRedis().listen();
  onTestFinished(() => redis.close());
  redis.script(() => 'OK');
  const history = await openHistory({
    config: parseConfig({ LOOP_HISTORY_SIZE: '7', LOOP_EMBEDDING_TTL: '90s' }),
    secrets: parseSecrets({ REDIS_URL: redis.url }),
    telemetry: telemetry(),
    embedder: EMBEDDER,
  });
  onTestFinished(() => history.close());
  const vector = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  const scope = { tenant_id: 't', session_id: 's' };
  await history.record(scope, { request_id: '1', prompt: 'hello there', vector, at_ms: 0 });
  const recorded = redis.commands.at(-1)?.map(String);
  expect(recorded?.slice(6, 8)).toEqual(['7', '90000']);
});

it('no connection stays with a Redis that has no query engine', async () => {
  const redis = await new ScriptedRedis().listen();
  onTestFinished(() => redis.close());
  redis.script(([name]) => new RedisError(`ERR unknown command '${name}', with args beginning with: `));
  const opening = openHistory({
    config: parseConfig({}),
    secrets: parseSecrets({ REDIS_URL: redis.url }),
    telemetry: telemetry(),
    embedder: EMBEDDER,
  });
  await expect(opening).rejects.toMatchObject({ reason: 'no_query_engine' });
  expect(redis.connectionCount).toBe(1);
  await expect.poll(() => redis.openCount).toBe(0);
});
