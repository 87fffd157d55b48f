/** A RedisPromptHistory for the conformance suite, under names of its own in whatever Redis there is. */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { connectRedis, RedisPromptHistory } from '#adapters/redis';
import {
  CONFORMANCE_DIMENSION,
  type HistoryPlace,
  type HistoryPlaceOptions,
} from '../../libs/testing/src/prompt-history.conformance.js';

/** On a busy machine a slow reply is no failure of the history. */
export const PATIENT_MS = 5_000;

/** @param backend reads and changes the same keys, for time to pass in them */
export async function historyPlace(
  url: string,
  backend: Redis,
  options: HistoryPlaceOptions = {},
): Promise<HistoryPlace> {
  const keyPrefix = `observatory-test-${randomUUID()}:`;
  const connection = connectRedis(url, { onError: (failure) => console.error(failure) });
  const history = new RedisPromptHistory({
    connection,
    model: { model_id: 'test/model', dimension: CONFORMANCE_DIMENSION },
    keyPrefix,
    replyTimeoutMs: PATIENT_MS,
    ...options,
  });
  await history.open();
  return {
    history,
    elapse: (ms) => takeTime(backend, `${keyPrefix}*`, ms),
    close: async () => {
      await history.close();
      await takeTime(backend, `${keyPrefix}*`, Number.POSITIVE_INFINITY);
    },
  };
}

/** Redis has a clock of its own: instead of moving it, every key is brought nearer to its end. */
async function takeTime(backend: Redis, pattern: string, ms: number): Promise<void> {
  for (const key of await keysLike(backend, pattern)) {
    const leftMs = (await backend.pttl(key)) - ms;
    // What a test does within a second counts as one moment.
    if (leftMs <= 1_000) await backend.del(key);
    else await backend.pexpire(key, leftMs);
  }
}

async function keysLike(backend: Redis, pattern: string): Promise<string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await backend.scan(cursor, 'MATCH', pattern, 'COUNT', 500);
    for (const key of found) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...keys];
}
