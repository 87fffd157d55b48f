/**
 * After a failover the old connection may lead to what is a replica now, and stay alive: each write is refused for ever. A
 * new connection finds the master, where they share an address. Where there is no master reads still work on the
 * replica, so connections are not given up one after another.
 */
import type { Cluster, Redis } from 'ioredis';
import type { SteadyClock } from '#kernel';
import type { RedisFailure } from './redis-failure.js';

/** Between two connections given up because they lead to a replica. */
const LEAVE_PAUSE_MS = 1_000;

export class ReplicaExit {
  readonly #client: Redis | Cluster;
  readonly #clock: SteadyClock;
  #leftMs = Number.NEGATIVE_INFINITY;

  constructor(client: Redis | Cluster, clock: SteadyClock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** To be told of every failure; leaves when it is a replica's refusal. */
  failed({ code }: RedisFailure): void {
    if (code === 'READONLY') this.leave();
  }

  /** What waits for a reply fails with it. */
  leave(): void {
    const steadyMs = this.#clock.steadyMs();
    if (this.#client.status !== 'ready' || steadyMs - this.#leftMs < LEAVE_PAUSE_MS) return;
    this.#leftMs = steadyMs;
    this.#client.disconnect(true);
  }
}
