/**
 * After a failover the old connection may lead to what is a replica now, and stay alive: each write is refused for ever. A
 * new connection finds the master, where they share an address. Where there is no master reads still work on the
 * replica, so connections are not given up one after another.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '#kernel';
import type { RedisFailure } from './redis-failure.js';

/** Between two connections given up because they lead to a replica. */
const LEAVE_PAUSE_MS = 1_000;

export class ReplicaExit {
  readonly #client: Redis | Cluster;
  readonly #clock: Clock;
  #leftMs = Number.NEGATIVE_INFINITY;

  constructor(client: Redis | Cluster, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** To be told of every failure; leaves when it is a replica's refusal. What else waits for a reply fails with it. */
  failed({ code }: RedisFailure): void {
    if (code !== 'READONLY' || this.#client.status !== 'ready') return;
    const nowMs = this.#clock.nowMs();
    if (Math.abs(nowMs - this.#leftMs) < LEAVE_PAUSE_MS) return;
    this.#leftMs = nowMs;
    this.#client.disconnect(true);
  }
}
