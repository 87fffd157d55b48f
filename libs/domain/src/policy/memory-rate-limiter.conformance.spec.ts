import { FakeClock } from '#testing';
import { rateLimiterConformance } from '../../../testing/src/rate-limiter.conformance.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';

rateLimiterConformance('in memory', async () => {
  const clock = new FakeClock();
  return {
    limiter: new MemoryRateLimiter({ clock }),
    advance: (ms) => void clock.advance(ms),
    nowMs: () => clock.nowMs(),
    close: async () => {},
  };
});
