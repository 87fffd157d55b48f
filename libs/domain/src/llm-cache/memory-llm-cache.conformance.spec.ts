import { FakeClock } from '#testing';
import { llmCacheConformance } from '../../../testing/src/llm-cache.conformance.js';
import { MemoryLlmCache } from './memory-llm-cache.js';

llmCacheConformance('memory', async (bounds) => {
  const clock = new FakeClock();
  return {
    cache: new MemoryLlmCache({ ...bounds, clock }),
    advance: (ms) => void clock.advance(ms),
    nowMs: () => clock.nowMs(),
    close: async () => {},
  };
});
