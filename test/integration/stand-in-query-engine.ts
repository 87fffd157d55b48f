/**
 * A real redis-server with a stand-in for its query engine in front: FT.CREATE and FT.SEARCH are answered here, by
 * looking at the real server's hashes, and all else goes to it. Understands the one query we send and refuses any
 * other, as the engine would. It lets everything be tested but the engine itself. Where the real server is away, it hangs up.
 */
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { HANG_UP, RedisError, type RedisReply, ScriptedRedis } from '#testing';
import { type RedisServer, startRedis } from './start-redis.js';

const QUERY =
  /^\(@tenant:\{([0-9a-f]{64})\} @session:\{([0-9a-f]{64})\}\)=>\[KNN (\d+) @vec \$vector HYBRID_POLICY ADHOC_BF AS distance\]$/;
const PROBE = /^@tenant:\{[0-9a-f]{64}\}$/;

interface Index {
  prefix: string;
  dimension: number;
}

export interface StandIn {
  redis: ScriptedRedis;
  server: RedisServer;
  /** To the real server. */
  backend: Redis;
  stop(): Promise<void>;
}

export async function startStandIn(protocol: 2 | 3): Promise<StandIn> {
  const server = await startRedis();
  const backend = new Redis(server.socketPath, {
    protocol: 2,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => 20,
  });
  backend.on('error', () => {});
  await once(backend, 'ready');
  const indexes = new Map<string, Index>();
  const redis = await new ScriptedRedis(protocol).listen();
  redis.script(async (args) => {
    const [name, ...rest] = args.map(String);
    if (name?.toUpperCase() === 'FT.CREATE') return createIndex(indexes, rest);
    if (name?.toUpperCase() === 'FLUSHALL') indexes.clear();
    try {
      if (name?.toUpperCase() === 'FT.SEARCH')
        return await search(backend, indexes.get(rest[0] ?? ''), args, protocol);
      return (await backend.callBuffer(String(name), ...args.slice(1))) as RedisReply;
    } catch (error) {
      return (error as Error).name === 'ReplyError' ? new RedisError((error as Error).message) : HANG_UP;
    }
  });
  // As a real one that comes back with nothing.
  backend.on('close', () => indexes.clear());
  return {
    redis,
    server,
    backend,
    stop: async () => {
      await redis.close();
      backend.disconnect();
      await server.stop();
    },
  };
}

function createIndex(indexes: Map<string, Index>, [name, ...args]: string[]): RedisReply {
  const after = (word: string, count: number): string => args[args.indexOf(word) + count] ?? '';
  if (indexes.has(String(name))) return new RedisError('Index already exists');
  indexes.set(String(name), { prefix: after('PREFIX', 2), dimension: Number(after('DIM', 1)) });
  return 'OK';
}

async function search(
  backend: Redis,
  index: Index | undefined,
  args: Buffer[],
  protocol: 2 | 3,
): Promise<RedisReply> {
  if (index === undefined) {
    await backend.ping();
    return new RedisError(`${args[1]}: no such index`);
  }
  if (PROBE.test(String(args[2]))) {
    await backend.ping();
    return answer([], protocol);
  }
  const query = QUERY.exec(String(args[2]));
  if (query === null) return new RedisError('Syntax error');
  const [, tenant, session, count] = query;
  const blob = args[args.findIndex((arg) => String(arg) === 'PARAMS') + 3] as Buffer;
  if (blob.length !== 4 * index.dimension)
    return new RedisError('Error parsing vector similarity query: query vector blob size does not match');
  const found: Found[] = [];
  for (const key of await backend.keys(`${index.prefix}*`)) {
    const hash = await backend.hgetallBuffer(key);
    if (String(hash.tenant) !== tenant || String(hash.session) !== session) continue;
    found.push({ key, hash, distance: distance(hash.vec as Buffer, blob) });
  }
  found.sort((one, other) => one.distance - other.distance);
  return answer(found.slice(0, Number(count)), protocol);
}

interface Found {
  key: string;
  hash: Record<string, Buffer>;
  distance: number;
}

/** As documented for RESP2 and for RESP3. */
function answer(found: readonly Found[], protocol: 2 | 3): RedisReply {
  const fields = ({ hash, distance }: Found): RedisReply[] => [
    ...['distance', String(distance)],
    ...['request_id', hash.request_id as Buffer],
    ...['prompt', hash.prompt as Buffer],
    ...['at_ms', hash.at_ms as Buffer],
  ];
  if (protocol === 2) return [found.length, ...found.flatMap((one): RedisReply[] => [one.key, fields(one)])];
  const pairs = (list: RedisReply[]): Map<string, RedisReply> =>
    new Map(list.flatMap((item, at) => (at % 2 === 0 ? [[String(item), list[at + 1] ?? null]] : [])));
  return pairs([
    ...['attributes', []],
    ...['format', 'STRING'],
    ...[
      'results',
      found.map((one) => pairs(['id', one.key, 'extra_attributes', pairs(fields(one)), 'values', []])),
    ],
    ...['total_results', found.length],
    ...['warning', []],
  ]);
}

/** In float32, like the engine: a little off, and below zero for equal vectors now and then. */
function distance(stored: Buffer, asked: Buffer): number {
  let dot = 0;
  let storedSquare = 0;
  let askedSquare = 0;
  for (let at = 0; at < stored.length; at += 4) {
    const one = stored.readFloatLE(at);
    const other = asked.readFloatLE(at);
    dot = Math.fround(dot + one * other);
    storedSquare += one * one;
    askedSquare += other * other;
  }
  return Math.fround(1 - dot / Math.sqrt(storedSquare * askedSquare));
}
