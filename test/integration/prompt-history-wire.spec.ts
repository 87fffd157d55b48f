/**
 * What goes to a query engine and what may come back, against a scripted server in both protocols. The shapes are as
 * documented for Redis 8 and Redis Stack; none of this was answered by a real engine.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConnectRedisOptions,
  connectRedis,
  RedisPromptHistory,
  type RedisPromptHistoryOptions,
} from '#adapters/redis';
import {
  FakeClock,
  HANG_UP,
  NO_REPLY,
  RawReply,
  RedisDouble,
  RedisError,
  type RedisReply,
  ScriptedRedis,
} from '#testing';
import { promptEntry, vectorAt } from '../../libs/testing/src/prompt-history.conformance.js';
import { PATIENT_MS } from './prompt-history-place.js';

const SCOPE = { tenant_id: 'a|b', session_id: '*' };
const CANARY = 'canary-prompt-77ab';
const map = (...pairs: [string, RedisReply][]): Map<string, RedisReply> => new Map(pairs);

/** Distances come as text in RESP2; a double is what RESP3 may make of them. */
const DOCUMENT: [string, RedisReply][] = [
  ['distance', new RedisDouble(0.125)],
  ['request_id', 'call-1'],
  ['prompt', 'Why does the build fail?'],
  ['at_ms', '1760000000000'],
];
const MATCH = {
  request_id: 'call-1',
  prompt: 'Why does the build fail?',
  at_ms: 1_760_000_000_000,
  cosine: 0.875,
};

describe.each([2, 3] as const)('the wire of the prompt history, RESP%d', (protocol) => {
  let redis: ScriptedRedis;
  let open: RedisPromptHistory[];
  const texts = (at: number): string[] => (redis.commands[at] ?? []).map(String);

  const results = (...documents: (RedisReply | null)[]): RedisReply =>
    protocol === 2
      ? [
          documents.length,
          ...documents.flatMap((one, index): RedisReply[] => [
            `key-${index}`,
            one instanceof Map ? [...one].flat(1) : one,
          ]),
        ]
      : map(
          ['attributes', []],
          ['format', 'STRING'],
          [
            'results',
            documents.map((one, index) =>
              map(['id', `key-${index}`], ['extra_attributes', one], ['values', []]),
            ),
          ],
          ['total_results', documents.length],
          ['warning', []],
        );

  const historyOf = (
    options: Partial<RedisPromptHistoryOptions> = {},
    connect: Partial<ConnectRedisOptions> = {},
  ): RedisPromptHistory => {
    const connection = connectRedis(redis.url, { onError: () => {}, reconnectMaxMs: 50, ...connect });
    const history = new RedisPromptHistory({
      connection,
      model: { model_id: 'test/model', dimension: 8 },
      replyTimeoutMs: PATIENT_MS,
      ...options,
    });
    open.push(history);
    return history;
  };
  /** Open, with the script set anew. */
  const opened = async (
    script: (name: string, index: number) => RedisReply,
    options?: Partial<RedisPromptHistoryOptions>,
  ): Promise<RedisPromptHistory> => {
    redis.script(() => 'OK');
    const history = historyOf(options);
    await history.open();
    redis.script(([name], index) => script(String(name).toUpperCase(), index));
    return history;
  };

  beforeEach(async () => {
    open = [];
    redis = await new ScriptedRedis(protocol).listen();
  });
  afterEach(async () => {
    await Promise.all(open.map((history) => history.close()));
    await redis.close();
  });

  it('creates the index of the design: HNSW, FLOAT32, cosine, tags for tenant and session', async () => {
    redis.script(() => 'OK');
    await historyOf().open();
    const index = expect.stringMatching(/^observatory:prompts:test-model-[0-9a-f]{12}:8$/);
    expect(redis.commands).toHaveLength(1);
    expect(texts(0)).toEqual([
      ...['FT.CREATE', index, 'ON', 'HASH', 'PREFIX', '1', expect.stringMatching(/:8:entry:$/)],
      ...['SCHEMA', 'tenant', 'TAG', 'session', 'TAG'],
      ...['vec', 'VECTOR', 'HNSW', '6', 'TYPE', 'FLOAT32', 'DIM', '8', 'DISTANCE_METRIC', 'COSINE'],
    ]);
  });

  it('is content with an index that exists', async () => {
    redis.script(() => new RedisError('Index already exists'));
    const history = historyOf();
    await history.open();
    expect(history.counts().indexes_created).toBe(0);
  });

  it('searches one scope by hashed tags, exactly, with the vector as a parameter', async () => {
    const history = await opened(() => results(map(...DOCUMENT)));
    expect(await history.similar(SCOPE, vectorAt(30), 'call-2')).toEqual([MATCH]);
    expect(texts(0).map((text, at) => (at === 6 ? 'BLOB' : text))).toEqual([
      ...['FT.SEARCH', expect.stringMatching(/^observatory:prompts:/)],
      expect.stringMatching(
        /^\(@tenant:\{[0-9a-f]{64}\} @session:\{[0-9a-f]{64}\}\)=>\[KNN 10 @vec \$vector HYBRID_POLICY ADHOC_BF AS distance\]$/,
      ),
      ...['PARAMS', '2', 'vector', 'BLOB'],
      ...['RETURN', '4', 'request_id', 'prompt', 'at_ms', 'distance'],
      ...['LIMIT', '0', '10', 'DIALECT', '2'],
    ]);
    const blob = redis.commands[0]?.[6] as Buffer;
    expect(blob).toHaveLength(32);
    expect([blob.readFloatLE(0), blob.readFloatLE(4)]).toEqual([...vectorAt(30).subarray(0, 2)]);
  });

  it('records with one script, its keys in one slot and its time in milliseconds', async () => {
    const history = await opened(() => 0, { countMax: 3, ttlMs: 60_000 });
    await history.record(SCOPE, { ...promptEntry('call-1', 30, 'Why?'), at_ms: 5 });
    const [command, script, keyCount, order, entry, member, count, ttl, prefix, ...fields] = texts(0);
    expect([command?.toUpperCase(), keyCount, count, ttl]).toEqual(['EVAL', '2', '3', '60000']);
    expect(script).toContain("redis.call('HSET'");
    expect(entry).toBe(`${prefix}${member}`);
    expect(member).toMatch(/^[0-9a-f]{64}$/);
    expect(order?.match(/\{.*\}/)?.[0]).toBe(prefix?.match(/\{.*\}/)?.[0]);
    expect(fields.filter((_, at) => at !== 5)).toEqual([
      ...[
        'tenant',
        expect.stringMatching(/^[0-9a-f]{64}$/),
        'session',
        expect.stringMatching(/^[0-9a-f]{64}$/),
      ],
      ...['vec', 'request_id', 'call-1', 'prompt', 'Why?', 'at_ms', '5'],
    ]);
    expect(redis.commands[0]?.[14]).toEqual(Buffer.from(vectorAt(30).buffer));
  });

  it('leaves out documents that expired while they were found', async () => {
    const history = await opened(() => results(null, map(...DOCUMENT), map()));
    expect(await history.similar(SCOPE, vectorAt(0), 'call-2')).toEqual([MATCH]);
  });

  it('keeps to the newest when entries were left behind', async () => {
    const documents = Array.from({ length: 9 }, (_, index) =>
      map(
        ['distance', String(index / 10)],
        ['request_id', `r${index}`],
        ['prompt', 'p'],
        ['at_ms', String(index)],
      ),
    );
    const history = await opened(() => results(...documents));
    const matches = await history.similar(SCOPE, vectorAt(0), 'r7');
    expect(matches.map(({ request_id }) => request_id)).toEqual(['r4', 'r5', 'r6', 'r8']);
  });

  it.each([
    'observatory:prompts:test-model:8: no such index',
    'SEARCH_INDEX_NOT_FOUND Index not found: observatory:prompts:test-model:8',
  ])('creates the index again when a search is told "%s"', async (message) => {
    let isThere = false;
    const history = await opened((name) => {
      if (name === 'FT.CREATE') isThere = true;
      return isThere ? (name === 'FT.CREATE' ? 'OK' : results(map(...DOCUMENT))) : new RedisError(message);
    });
    const matches = await Promise.all([
      history.similar(SCOPE, vectorAt(0), 'call-2'),
      history.similar(SCOPE, vectorAt(0), 'call-3'),
    ]);
    expect(matches).toEqual([[MATCH], [MATCH]]);
    expect(history.counts().indexes_created).toBe(2);
    isThere = false;
    redis.commands.length = 0;
    await history.probe();
    expect(redis.commands.map(([name]) => String(name))).toEqual(['FT.SEARCH', 'FT.CREATE', 'FT.SEARCH']);
  });

  it('gives up when the index is gone again at once', async () => {
    const history = await opened((name) =>
      name === 'FT.CREATE' ? 'OK' : new RedisError('x: no such index'),
    );
    await expect(history.similar(SCOPE, vectorAt(0), 'call-2')).rejects.toMatchObject({ reason: 'failed' });
    expect(redis.commands).toHaveLength(3);
  });

  it('names a Redis without a query engine, when opened and when one takes the place of another', async () => {
    const unknown = new RedisError(
      "ERR unknown command 'FT.CREATE', with args beginning with: 'observatory:prompts:x' ",
    );
    redis.script(() => unknown);
    const failure = {
      name: 'PromptHistoryFailure',
      reason: 'no_query_engine',
      message: expect.stringContaining('Redis Stack'),
    };
    await expect(historyOf().open()).rejects.toMatchObject(failure);
    const history = await opened(() => new RedisError("ERR unknown command 'FT.SEARCH'"));
    await expect(history.similar(SCOPE, vectorAt(0), 'call-2')).rejects.toMatchObject(failure);
    await expect(history.probe()).rejects.toMatchObject(failure);
  });

  it.each<[what: string, reply: RedisReply]>([
    ['OK', 'OK'],
    ['a number', 42],
    ['nothing', null],
    ['an empty list', []],
    ['a list of lists', [[['x']]]],
    ['a document of one word', [1, 'key', 'word']],
    [
      'a distance that is none',
      [1, 'key', ['distance', 'nan', 'request_id', 'r', 'prompt', 'p', 'at_ms', '1']],
    ],
    ['a map of nonsense', map(['results', 'none'])],
    ['an error with a prompt in it', new RedisError(`Syntax error at offset 3 near ${CANARY}`)],
  ])('rejects as failed, and goes on, when the engine answers %s', async (_what, reply) => {
    const history = await opened((_name, index) => (index === 0 ? reply : results(map(...DOCUMENT))));
    const failure = await history.similar(SCOPE, vectorAt(0), 'call-2').then(
      () => expect.fail('was not rejected'),
      (error: unknown) => error as Error,
    );
    expect(failure).toMatchObject({ name: 'PromptHistoryFailure', reason: 'failed' });
    expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toContain(CANARY);
    expect(await history.similar(SCOPE, vectorAt(0), 'call-2')).toEqual([MATCH]);
  });

  it.each<[what: string, reply: RedisReply]>([
    ['hangs up', HANG_UP],
    ['speaks no RESP', new RawReply('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['is loading its data', new RedisError('LOADING Redis is loading the dataset in memory')],
  ])('rejects as unavailable when the server %s, and finds it when it is back', async (_what, reply) => {
    let isBack = false;
    const history = await opened(() => (isBack ? results(map(...DOCUMENT)) : reply));
    await expect(history.similar(SCOPE, vectorAt(0), 'call-2')).rejects.toMatchObject({
      reason: 'unavailable',
    });
    await expect(history.record(SCOPE, promptEntry('r'))).rejects.toMatchObject({ reason: 'unavailable' });
    isBack = true;
    await expect
      .poll(() => history.similar(SCOPE, vectorAt(0), 'call-2').catch(() => []), { timeout: PATIENT_MS })
      .toEqual([MATCH]);
  });

  it('rejects in time when the engine hangs, bounds what waits for it, and counts both', async () => {
    const history = await opened(() => NO_REPLY, { replyTimeoutMs: 40, pendingCountMax: 3 });
    const startMs = performance.now();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => history.similar(SCOPE, vectorAt(0), 'call-2')),
    );
    expect(performance.now() - startMs).toBeLessThan(900);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'unavailable' } });
    expect(history.counts()).toMatchObject({ timeouts: 3, refused_pending: 2, pending: 3 });
  });

  it('takes a new connection when the old one leads to a replica', async () => {
    const history = await opened((_name, index) =>
      index === 0 ? new RedisError("READONLY You can't write against a read only replica.") : 0,
    );
    expect(redis.connectionCount).toBe(1);
    await expect(history.record(SCOPE, promptEntry('r'))).rejects.toMatchObject({ reason: 'unavailable' });
    await expect
      .poll(
        () =>
          history.record(SCOPE, promptEntry('r')).then(
            () => true,
            () => false,
          ),
        { timeout: PATIENT_MS },
      )
      .toBe(true);
    expect(redis.connectionCount).toBe(2);
  });

  it('gives up one connection a second at most where there is no master', async () => {
    const clock = new FakeClock();
    const history = await opened(
      (name) => (name.startsWith('EVAL') ? new RedisError('READONLY') : results()),
      {
        clock,
      },
    );
    const recordAndSearch = async (): Promise<void> => {
      await expect(history.record(SCOPE, promptEntry('r'))).rejects.toMatchObject({ reason: 'unavailable' });
      await expect
        .poll(() => history.similar(SCOPE, vectorAt(0), 'r').catch(() => null), { timeout: PATIENT_MS })
        .toEqual([]);
    };
    for (let count = 0; count < 4; count += 1) await recordAndSearch();
    expect(redis.connectionCount).toBe(2);
    clock.advance(1_000);
    await recordAndSearch();
    expect(redis.connectionCount).toBe(3);
  });

  it('opens as unavailable to nobody, and works once there is somebody', async () => {
    redis.script(() => HANG_UP);
    const history = historyOf();
    await expect(history.open()).rejects.toMatchObject({
      name: 'PromptHistoryFailure',
      reason: 'unavailable',
    });
    redis.script(([name]) => (String(name) === 'FT.SEARCH' ? results(map(...DOCUMENT)) : 'OK'));
    await expect
      .poll(() => history.similar(SCOPE, vectorAt(0), 'call-2').catch(() => []), { timeout: PATIENT_MS })
      .toEqual([MATCH]);
  });

  it('refuses a vector of another dimension before anything is sent', async () => {
    const history = await opened(() => results());
    await expect(history.similar(SCOPE, vectorAt(0, 9), 'r')).rejects.toMatchObject({ reason: 'failed' });
    expect(redis.commands).toEqual([]);
  });
});

it('refuses a prefix with braces, which mark what lies in one slot', () => {
  const connection = connectRedis('redis://127.0.0.1:1', { onError: () => {} });
  const model = { model_id: 'm', dimension: 8 };
  expect(() => new RedisPromptHistory({ connection, model, keyPrefix: 'a{b}:' })).toThrow(RangeError);
});
