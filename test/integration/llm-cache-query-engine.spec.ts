/** Semantic search by the query engine of Redis, against a server that answers as its documentation says. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectRedis, type RedisConnection, RedisLlmCache } from '#adapters/redis';
import type { CacheHit, Cosine } from '#contracts';
import { systemClock } from '#kernel';
import { NO_REPLY, RedisError, type RedisReply, ScriptedRedis } from '#testing';
import {
  buildCacheEntry,
  CACHE_BOUNDS,
  hex,
  vectorAt,
} from '../../libs/testing/src/llm-cache.conformance.js';

const PREFIX = 'observatory:llm_cache';
const DAY_MS = 86_400_000;

interface StoredVector {
  name: string;
  key: string;
  field: string;
  tag: string;
  blob: Buffer;
}

/** A script comes with its text once for each connection, and by its hash from then on. */
const commandOf = (args: Buffer[]): string =>
  String(args[0])
    .toUpperCase()
    .replace(/^EVAL$/, 'EVALSHA');

describe.each([2, 3] as const)('with a query engine that speaks RESP%i', (protocol) => {
  let server: ScriptedRedis;
  let connection: RedisConnection;
  let cache: RedisLlmCache;
  let values: Map<string, Buffer>;
  let vectors: StoredVector[];
  /** What it answers to FT commands. */
  let engine: Record<string, (args: Buffer[]) => RedisReply>;

  /** As FT.SEARCH gives documents: with the fields that were asked for. */
  const found = (documents: [name: string, fields: [string, RedisReply][] | null][]): RedisReply => {
    if (protocol === 2)
      return [documents.length, ...documents.flatMap(([name, fields]) => [name, fields?.flat() ?? null])];
    return new Map<string, RedisReply>([
      ['attributes', []],
      ['format', 'STRING'],
      ['total_results', documents.length],
      ['warning', []],
      [
        'results',
        documents.map(
          ([name, fields]) =>
            new Map<string, RedisReply>([
              ['id', name],
              ['extra_attributes', new Map(fields ?? [])],
              ['values', []],
            ]),
        ),
      ],
    ]);
  };
  const asDocument = ({ name, field, blob }: StoredVector): [string, [string, RedisReply][]] => [
    name,
    [
      ['distance', '0.01'],
      [field, blob],
    ],
  ];
  const sent = (command: string): string[][] =>
    server.commands.filter((args) => commandOf(args) === command).map((args) => args.map(String));

  /** Enough of Redis for the cache's own scripts: they are told apart by their keys. */
  const reply = (args: Buffer[]): RedisReply => {
    const [command, ...rest] = [commandOf(args), ...args.slice(1).map(String)];
    if (command.startsWith('FT.'))
      return engine[command]?.(args) ?? new RedisError(`ERR unknown command '${command}'`);
    if (command === 'SET') {
      values.set(rest[0] as string, args[2] as Buffer);
      return 'OK';
    }
    if (command === 'UNLINK') return values.delete(rest[0] as string) ? 1 : 0;
    if (command !== 'EVALSHA') return new RedisError('ERR unexpected');
    const name = rest[2] as string;
    const value = values.get(name);
    if (name.startsWith(`${PREFIX}:`)) return value === undefined ? null : [value, DAY_MS];
    // To register has an epoch as its last argument, to ask what is known a key: all is known, of none.
    if (name.startsWith(`${PREFIX}_index`)) return rest.length > 12 ? [] : rest.slice(9).map(() => '0');
    if (rest[1] === '2') {
      const [, , , vectorName, , key, , , tag, field] = rest as string[];
      if (field !== undefined)
        vectors.push({ name: vectorName, key, field, tag, blob: args.at(-1) } as StoredVector);
      return 1;
    }
    return vectors.flatMap(({ key, blob }) => [key, blob]);
  };
  const search = (cosine = 0.95): Promise<CacheHit | null> =>
    cache.semanticSearch({
      tenant_id: 'tenant-1',
      scope: hex('scope'),
      vector: vectorAt(cosine),
      hitWhenCosineAtLeast: 0.92 as Cosine,
      accept: () => true,
      serves: true,
    });
  /** The first search finds out whether there is an engine, and does without. */
  const prepared = async (): Promise<void> => {
    expect((await search())?.entry.key).toBe(hex('question'));
    await expect.poll(() => sent('FT.CREATE').length).toBe(1);
    await expect.poll(async () => (await search()) !== null && sent('FT.SEARCH').length).toBeGreaterThan(0);
  };

  beforeEach(async () => {
    values = new Map();
    vectors = [];
    engine = {
      'FT._LIST': () => [],
      'FT.CREATE': () => 'OK',
      'FT.SEARCH': () => found(vectors.map(asDocument)),
    };
    server = await new ScriptedRedis(protocol).listen();
    server.script(reply);
    connection = connectRedis(server.url, { onError: () => {} });
    cache = new RedisLlmCache({ ...CACHE_BOUNDS, connection, clock: systemClock, waitMs: 2_000 });
    expect(await cache.put(buildCacheEntry(Date.now()))).toBe('kept');
  });
  afterEach(async () => {
    await cache.close();
    await server.close();
  });

  it('makes a flat cosine index of the dimension, over the names of its vectors', async () => {
    await prepared();
    const [vector] = vectors;
    expect(sent('FT.CREATE')[0]).toEqual([
      ...['FT.CREATE', `${PREFIX}_knn_${vector?.field}`, 'ON', 'HASH', 'PREFIX', '1', `${PREFIX}_emb:`],
      ...['SCHEMA', 's', 'TAG', vector?.field, 'VECTOR', 'FLAT', '6'],
      ...['TYPE', 'FLOAT32', 'DIM', '8', 'DISTANCE_METRIC', 'COSINE'],
    ]);
  });

  it('asks for the nearest eight of the scope, with the vector as bytes', async () => {
    await prepared();
    const args = server.commands.findLast(([name]) => String(name) === 'FT.SEARCH') ?? [];
    const [vector] = vectors;
    expect(vector?.tag).toMatch(/^[0-9a-f]{32}$/);
    expect(String(args[2])).toBe(`(@s:{${vector?.tag}})=>[KNN 8 @${vector?.field} $q AS distance]`);
    expect(args[6]).toEqual(Buffer.from(vectorAt(0.95).values.buffer));
    expect(args.slice(7).map(String)).toEqual([
      ...['SORTBY', 'distance', 'RETURN', '1', vector?.field, 'LIMIT', '0', '8', 'DIALECT', '2'],
    ]);
  });

  it('takes two round trips for a hit, and computes the cosine itself', async () => {
    await prepared();
    server.script(reply);
    const hit = await search(0.96);
    expect(hit?.cosine).toBeCloseTo(0.96, 6);
    expect(hit?.entry.answer.text).toBe('Paris.');
    const names = server.commands
      .map((args) => (commandOf(args) === 'EVALSHA' ? String(args[3]) : String(args[0])))
      // Counting hits, which nobody waits for.
      .filter((name) => !name.startsWith(`${PREFIX}_index`));
    expect(names).toEqual(['FT.SEARCH', expect.stringMatching(/^observatory:llm_cache:\{/)]);
  });

  it('does not believe what it says is near', async () => {
    await prepared();
    expect(await search(0.5)).toBeNull();
  });

  it.each<[string, () => RedisReply]>([
    ['nothing', () => found([])],
    ['a document that has just expired', () => found([[vectors[0]?.name as string, null]])],
    [
      'documents of others',
      () =>
        found([
          ['their:doc', [['title', 'x']]],
          [`${PREFIX}_emb:{x}:y`, []],
        ]),
    ],
    [
      'a vector cut short',
      () => found([asDocument({ ...(vectors[0] as StoredVector), blob: Buffer.alloc(5) })]),
    ],
    ['no documents at all', () => 'OK'],
    ['a number', () => 7],
    ['an empty list', () => []],
  ])('takes %s for a miss', async (_, answer) => {
    await prepared();
    engine['FT.SEARCH'] = answer;
    expect(await search()).toBeNull();
    expect(cache.isDegraded).toBe(false);
  });

  it('does without when the index is gone, and makes it again', async () => {
    await prepared();
    const searches = sent('FT.SEARCH').length;
    engine['FT.SEARCH'] = () => new RedisError(`${PREFIX}_knn: no such index`);
    expect((await search())?.entry.key).toBe(hex('question'));
    engine['FT.SEARCH'] = () => found(vectors.map(asDocument));
    await expect.poll(async () => (await search()) !== null && sent('FT.CREATE').length).toBe(2);
    await expect
      .poll(async () => (await search()) !== null && sent('FT.SEARCH').length)
      .toBeGreaterThan(searches + 1);
  });

  it('goes on with an index that another gateway has made', async () => {
    engine['FT.CREATE'] = () => new RedisError('Index already exists');
    await prepared();
  });

  it.each([
    ['has no query engine', "ERR unknown command 'FT._LIST', with args beginning with: "],
    ['does not allow it', 'NOPERM this user has no permissions to run the'],
  ])('reads the vectors itself where Redis %s, and asks only once', async (_, error) => {
    engine = { 'FT._LIST': () => new RedisError(error) };
    for (let round = 0; round < 5; round += 1) expect((await search())?.entry.key).toBe(hex('question'));
    await expect.poll(() => sent('FT._LIST').length).toBe(1);
    expect((await search())?.cosine).toBeCloseTo(0.95, 6);
    expect([sent('FT._LIST').length, sent('FT.CREATE').length, sent('FT.SEARCH').length]).toEqual([1, 0, 0]);
  });

  it.each(['FT._LIST', 'FT.CREATE'])(
    'asks again where %s came to a Redis that was still loading',
    async (name) => {
      const answer = engine[name] as () => RedisReply;
      engine[name] = () => new RedisError('LOADING Redis is loading the dataset in memory');
      expect((await search())?.entry.key).toBe(hex('question'));
      await expect.poll(() => sent(name).length).toBe(1);
      engine[name] = answer;
      await expect.poll(async () => (await search()) !== null && sent('FT.SEARCH').length).toBeGreaterThan(0);
    },
  );

  it('is a miss in time when it hangs', async () => {
    await prepared();
    const hurried = new RedisLlmCache({
      ...CACHE_BOUNDS,
      connection,
      clock: systemClock,
      waitMs: 20,
      closesConnection: false,
    });
    engine['FT.SEARCH'] = () => NO_REPLY;
    engine['FT._LIST'] = () => NO_REPLY;
    server.script((args) => (commandOf(args) === 'EVALSHA' ? NO_REPLY : reply(args)));
    const startMs = performance.now();
    expect(
      await hurried.semanticSearch({
        tenant_id: 'tenant-1',
        scope: hex('scope'),
        vector: vectorAt(1),
        hitWhenCosineAtLeast: 0.92 as Cosine,
        accept: () => expect.fail('nothing to offer'),
        serves: true,
      }),
    ).toBeNull();
    expect(performance.now() - startMs).toBeLessThan(900);
  });
});
