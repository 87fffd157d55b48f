/**
 * The suite over Redis, three times: with a stand-in for the query engine, in both protocols, and with a real one
 * where REDIS_SEARCH_URL names it (Redis 8 or Redis Stack, database 0). Uses names of its own there and removes them.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promptHistoryConformance } from '../../libs/testing/src/prompt-history.conformance.js';
import { historyPlace } from './prompt-history-place.js';
import { type StandIn, startStandIn } from './stand-in-query-engine.js';
import { redisMissing } from './start-redis.js';

describe.skipIf(redisMissing !== null).each([2, 3] as const)('over a real Redis, RESP%d', (protocol) => {
  let standIn: StandIn;

  beforeAll(async () => {
    standIn = await startStandIn(protocol);
  });
  afterAll(() => standIn?.stop());

  promptHistoryConformance('Redis, its query engine stood in for', (options) =>
    historyPlace(standIn.redis.url, standIn.backend, options),
  );
});

const searchUrl = process.env.REDIS_SEARCH_URL;

if (searchUrl === undefined || searchUrl === '') {
  it('was NOT run against a real query engine: set REDIS_SEARCH_URL to a Redis 8 or Redis Stack', () => {
    expect(searchUrl ?? '').toBe('');
  });
} else {
  describe('over the query engine of REDIS_SEARCH_URL', () => {
    let backend: Redis;

    beforeAll(() => {
      backend = new Redis(searchUrl);
    });
    afterAll(async () => {
      for (const index of (await backend.call('FT._LIST')) as string[])
        if (index.startsWith('observatory-test-')) await backend.call('FT.DROPINDEX', index);
      backend.disconnect();
    });

    promptHistoryConformance('Redis', (options) => historyPlace(searchUrl, backend, options));
  });
}
