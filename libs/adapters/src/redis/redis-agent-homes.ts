/** Who had an agent's calls last, in one key for each agent that is forgotten once nobody has them. */
import type { Cluster, Redis } from 'ioredis';
import type { AgentHomes, AgentScope } from '#contracts';
import { MINUTE_MS } from '#kernel';
import { escapedForKey } from './limit-key.js';

const PREFIX = 'observatory:home:';
const HOME_TTL_MS = 5 * MINUTE_MS;
/** Asked about at once. What the limiter asks meanwhile, on the same connection, comes after no more than these. */
const CLAIM_COUNT_MAX = 100;

/** A key of another type is somebody else's value, and gives way. */
const CLAIM = `
local last = redis.pcall('GET', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return (type(last) == 'string' and last ~= ARGV[1]) and 1 or 0
`;

interface ClaimCommand {
  observatoryClaimAgent(keyCount: 1, key: string, gatewayId: string, ttlMs: number): Promise<number>;
}

export interface RedisAgentHomesOptions {
  /** Of `connectRedis`, or a cluster's. It stays the caller's to close. */
  client: Redis | Cluster;
  /** The same after a restart, and no other gateway's. */
  gatewayId: string;
}

export class RedisAgentHomes implements AgentHomes {
  readonly #commands: ClaimCommand;
  readonly #gatewayId: string;

  constructor({ client, gatewayId }: RedisAgentHomesOptions) {
    client.defineCommand('observatoryClaimAgent', { lua: CLAIM });
    this.#commands = client as unknown as ClaimCommand;
    this.#gatewayId = gatewayId;
  }

  /** Ends where the connection does: one on which nothing comes is given up. */
  async claim(scopes: readonly AgentScope[]): Promise<boolean[]> {
    const replies: number[] = [];
    for (let at = 0; at < scopes.length; at += CLAIM_COUNT_MAX)
      replies.push(...(await Promise.all(scopes.slice(at, at + CLAIM_COUNT_MAX).map(this.#claimOne))));
    return replies.map((reply) => reply === 1);
  }

  /** One that is not answered takes no move with it of which Redis has told: who asks again is not told of it again. */
  #claimOne = (scope: AgentScope): Promise<number> =>
    this.#commands.observatoryClaimAgent(1, homeKey(scope), this.#gatewayId, HOME_TTL_MS).catch(() => 0);
}

const homeKey = (scope: AgentScope): string => `${PREFIX}{${escapedForKey(scope)}}`;
