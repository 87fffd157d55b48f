/**
 * Until when a reply is awaited, by the clock of the Redis that is to give it: what lies in the sockets of one that stands still is
 * read when it goes on, and must do nothing then for whom nobody waits any more. What time it is there is known from its replies.
 */
import type { Cluster, Redis } from 'ioredis';
import type { SteadyClock } from '#kernel';
import { nodeOf } from './node-of.js';

export interface ReplyDeadlineOptions {
  client: Redis | Cluster;
  clock: SteadyClock;
  /** How long anybody waits. */
  timeoutMs: number;
}

export class ReplyDeadline {
  readonly #client: Redis | Cluster;
  readonly #clock: SteadyClock;
  readonly #timeoutMs: number;
  /** By node, whose clocks differ: how far it is ahead of ours, at most. As many as a cluster ever had. */
  readonly #aheadMs = new Map<string, number>();

  constructor({ client, clock, timeoutMs }: ReplyDeadlineOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Asks once, and learns from the reply.
   *
   * @param name of a key of Redis
   * @param ask given the deadline, epoch ms; '' before the first reply. The reply begins with the time it was made
   */
  async asked<Reply extends readonly unknown[]>(
    name: string,
    ask: (untilMs: number | '') => Promise<Reply>,
  ): Promise<Reply> {
    const node = nodeOf(this.#client, name);
    const sentMs = this.#clock.steadyMs();
    const aheadMs = this.#aheadMs.get(node);
    const reply = await ask(aheadMs === undefined ? '' : Math.ceil(sentMs + aheadMs + this.#timeoutMs));
    // One that lay there for long, because this process was busy, says nothing of now.
    if (this.#clock.steadyMs() - sentMs <= this.#timeoutMs)
      this.#aheadMs.set(node, (reply[0] as number) - sentMs);
    return reply;
  }
}
