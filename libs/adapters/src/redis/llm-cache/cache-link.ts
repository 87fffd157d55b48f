/**
 * How the cache speaks to Redis: opens the connection when it is first needed, waits only so long, keeps away for a
 * while when Redis fails, leaves what has become a replica, and bounds what waits for a reply.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '#kernel';
import type { RedisConnection } from '../connect-redis.js';
import { RedisFailure } from '../redis-failure.js';
import { ReplicaExit } from '../replica-exit.js';
import { replyInTime } from '../reply-in-time.js';
import * as scripts from './cache-scripts.js';
import { NodeCircuits } from './node-circuits.js';

/** Replies awaited at once; beyond it nothing is sent, so that a hanging Redis costs bounded memory. */
const PENDING_COUNT_MAX = 2_000;

type Argument = string | number | Buffer;
type Script = (...keysAndArguments: Argument[]) => Promise<unknown>;

/** Name of the script -> how many keys it has. */
const COMMANDS = {
  Read: { lua: scripts.READ, numberOfKeys: 1 },
  Register: { lua: scripts.REGISTER, numberOfKeys: 6 },
  Epoch: { lua: scripts.EPOCH, numberOfKeys: 6 },
  EndEpoch: { lua: scripts.END_EPOCH, numberOfKeys: 6 },
  Known: { lua: scripts.KNOWN, numberOfKeys: 6 },
  Touch: { lua: scripts.TOUCH, numberOfKeys: 6 },
  Forget: { lua: scripts.FORGET, numberOfKeys: 6 },
  Browse: { lua: scripts.BROWSE, numberOfKeys: 6 },
  Stats: { lua: scripts.STATS, numberOfKeys: 6 },
  List: { lua: scripts.LIST, numberOfKeys: 6 },
  PutVector: { lua: scripts.PUT_VECTOR, numberOfKeys: 2 },
  ReadVectors: { lua: scripts.READ_VECTORS, numberOfKeys: 1 },
  DropVector: { lua: scripts.DROP_VECTOR, numberOfKeys: 2 },
} as const;
type Command = keyof typeof COMMANDS;

export interface CacheLinkOptions {
  connection: RedisConnection<Redis | Cluster>;
  clock: Clock;
  /** Told of each request that failed or was not answered in time; safe to log. @see the cache's design, 6.4 and 11 */
  onFailure?: (failure: RedisFailure) => void;
  /** Tests only: instead of the clock of Redis. */
  redisClock?: Clock;
}

export class CacheLink {
  readonly client: Redis | Cluster;
  readonly #connection: CacheLinkOptions['connection'];
  readonly #circuits: NodeCircuits;
  readonly #replicaExit: ReplicaExit;
  readonly #onFailure: (failure: RedisFailure) => void;
  readonly #redisClock: Clock | undefined;
  #opening: Promise<boolean> | null = null;
  #wasOpened = false;
  #pendingCount = 0;
  #failureCount = 0;

  constructor({ connection, clock, onFailure = () => {}, redisClock }: CacheLinkOptions) {
    this.client = connection.client;
    this.#connection = connection;
    this.#circuits = new NodeCircuits(connection.client, clock);
    this.#replicaExit = new ReplicaExit(connection.client, clock);
    this.#onFailure = onFailure;
    this.#redisClock = redisClock;
    for (const [name, command] of Object.entries(COMMANDS))
      this.client.defineCommand(`observatoryCache${name}`, command);
  }

  get isDegraded(): boolean {
    return this.#circuits.isAnyOpen || (this.#wasOpened && !this.#connection.isReady);
  }

  get failureCount(): number {
    return this.#failureCount;
  }

  /** The first argument of most scripts. */
  get now(): Argument {
    return this.#redisClock?.nowMs() ?? '';
  }

  /** @throws RedisFailure */
  script(command: Command, timeoutMs: number, name: string, ...values: Argument[]): Promise<unknown> {
    return this.ask(name, timeoutMs, () => this.#commands[`observatoryCache${command}`](name, ...values));
  }

  /** For replies that hold bytes. @throws RedisFailure */
  scriptOfBytes(command: Command, timeoutMs: number, name: string, ...values: Argument[]): Promise<unknown> {
    return this.ask(name, timeoutMs, () =>
      this.#commands[`observatoryCache${command}Buffer`](name, ...values),
    );
  }

  /** @param name what it is about: in a cluster, the node that holds it is asked @throws RedisFailure */
  async ask<T>(name: string, timeoutMs: number, send: () => Promise<T>): Promise<T> {
    const circuit = this.#circuits.of(name);
    if (!circuit.mayAsk()) throw new RedisFailure('disconnected');
    if (this.#pendingCount >= PENDING_COUNT_MAX) {
      circuit.failed();
      throw new RedisFailure('busy');
    }
    try {
      const isSendable = this.#wasOpened || this.#connection.isReady;
      const reply = await replyInTime(isSendable ? this.#sent(send) : this.#sentOnceOpen(send), timeoutMs);
      circuit.succeeded();
      return reply;
    } catch (error) {
      this.#failureCount += 1;
      const failure = error as RedisFailure;
      if (failure.isAnswer) circuit.succeeded();
      else circuit.failed();
      this.#replicaExit.failed(failure);
      this.#onFailure(failure);
      throw failure;
    }
  }

  /** The first ones wait until it is open. From then on it comes back by itself, and nothing waits for that. */
  async #sentOnceOpen<T>(send: () => Promise<T>): Promise<T> {
    this.#opening ??= this.#connection.open();
    await this.#opening;
    this.#wasOpened = true;
    return this.#sent(send);
  }

  #sent<T>(send: () => Promise<T>): Promise<T> {
    this.#pendingCount += 1;
    const settled = (): void => {
      this.#pendingCount -= 1;
    };
    const reply = send();
    reply.then(settled, settled);
    return reply;
  }

  get #commands(): Record<`observatoryCache${Command}${'' | 'Buffer'}`, Script> {
    return this.client as never;
  }
}
