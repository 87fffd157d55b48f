import { expect, vi } from 'vitest';
import type { RunningGateway } from './start-gateway.js';

/** Resolves once the gateway has its Redis. */
export const redisConnected = (gateway: RunningGateway): Promise<void> =>
  vi.waitFor(
    async () => expect((await gateway.operator('GET', '/v1/system')).body.redis.connected).toBe(true),
    { timeout: 60_000, interval: 100 },
  );
