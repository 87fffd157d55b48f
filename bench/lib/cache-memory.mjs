/** What an entry in memory costs on the heap, against what the cache says of it. */
import { createHash } from 'node:crypto';
import { MemoryLlmCache } from '#domain/llm-cache';
import { systemClock } from '#kernel';
import { liveBytes } from '#testing';
import { makeVectors } from './cache-vectors.mjs';

export const hex = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex');

/**
 * @param {number} index
 * @param {{ scope: string | null, answerChars: number, vector: { model_id: string, values: Float32Array } | null }} of
 * @returns {import('#contracts').CacheEntry}
 */
export const buildEntry = (index, { scope, answerChars, vector }) => ({
  tenant_id: 'bench',
  key: hex(`key ${index}`),
  scope,
  agent_id: `agent-${index % 20}`,
  upstream: 'openai',
  prompt: `${index} what is asked here, in about a hundred characters, as people do when they want to know it`,
  vector,
  answer: {
    dialect: 'openai-chat',
    answer_id: `chatcmpl-${hex(String(index)).slice(0, 29)}`,
    model: 'gpt-4o-mini-2024-07-18',
    text: `${index} `.padEnd(answerChars, 'what is answered '),
    tool_calls: [],
    finish: 'stop',
    usage: {
      input_tokens: 900 + index,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 300,
      reasoning_tokens: 0,
    },
  },
  created_at_ms: Date.now(),
  cost_micro_usd: 1_000 + index,
  duration_ms: 900.5,
});

/**
 * @param {{ count: number, answerChars: number, dimension: number, perScope: number }} shape dimension 0: no vectors
 * @returns {{ ratio: number, bytesPerEntry: number }} heap over what the cache counts
 */
export function measureMemory({ count, answerChars, dimension, perScope }) {
  const vectors = dimension === 0 ? null : makeVectors(count, dimension, 0);
  const bytesMax = 4 * 1024 ** 3;
  const ttl = { exactTtlMs: 3_600_000, semanticTtlMs: 86_400_000 };
  const before = liveBytes();
  const cache = new MemoryLlmCache({ clock: systemClock, entriesMax: count, bytesMax, ...ttl });
  for (let index = 0; index < count; index += 1) {
    const scope = vectors === null ? null : hex(`scope ${Math.floor(index / perScope)}`);
    const vector = vectors === null ? null : { model_id: 'bench', values: vectors.row(index) };
    cache.putNow(buildEntry(index, { scope, answerChars, vector }));
  }
  const used = liveBytes() - before;
  if (cache.entryCount !== count) throw new Error('the cache let entries go');
  return { ratio: used / cache.byteCount, bytesPerEntry: Math.round(used / count) };
}
