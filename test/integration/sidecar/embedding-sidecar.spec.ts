/** The built sidecar as its own process: how it starts, refuses to start, serves, and ends. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SidecarClient } from '#adapters/grpc';
import { deferred } from '#kernel';
import { NO_REPLY, RedisError, ScriptedRedis } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { fillWithMinilmShape, isMinilmShared, makeToyMinilm } from '../embedding/model-folders.js';
import { endWithFile } from '../end-with-file.js';
import { freePort } from '../free-ports.js';
import { openRawClient } from './raw-client.js';
import { makePlace, patient, query, type SidecarPlace } from './sidecar-place.js';
import { HEALTH_CHECK, type StartedSidecar, startSidecar } from './start-sidecar.js';

const TRACE_ID = '0123456789abcdef0123456789abcdef';
const TRACE = `00-${TRACE_ID}-0123456789abcdef-01`;

let place: SidecarPlace;
const sidecars: StartedSidecar[] = [];
const clients: SidecarClient[] = [];

beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const sidecar of sidecars.splice(0)) await sidecar.kill();
  place.remove();
});

function start(env?: Record<string, string>, args?: string[]): StartedSidecar {
  const sidecar = startSidecar(place.socketPath, env, args);
  sidecars.push(sidecar);
  return sidecar;
}

async function connected(): Promise<SidecarClient> {
  const client = new SidecarClient({ socketPath: place.socketPath });
  clients.push(client);
  await expect.poll(() => client.isReady, { timeout: 20_000 }).toBe(true);
  return client;
}

describe('the start', () => {
  it('binds the socket only when the model is warm: the first moment it is seen, it answers', async () => {
    const sidecar = start();
    let wasReadyBefore = false;
    while (!existsSync(place.socketPath)) {
      wasReadyBefore ||= sidecar.output().includes('"event":"ready"');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const raw = openRawClient(place.socketPath);
    try {
      const { code, value } = await raw.call('CheckLoop', { tenant_id: 't', prompt: 'hello there' });
      expect([code, value.fitness]).toEqual([0, 'FIT']);
    } finally {
      raw.close();
    }
    expect(wasReadyBefore).toBe(false);
    expect(statSync(place.socketPath).mode & 0o777).toBe(0o600);
    await sidecar.ready;
    expect(sidecar.lines().filter(({ event }) => event === 'ready')).toEqual([
      expect.objectContaining({ level: 'info', model_id: 'observatory-static-384-v1', store: 'memory' }),
    ]);
  });

  it('warns of a variable that is nearly a setting, and not of what it is set to', async () => {
    const sidecar = start({ LOOP_EMBEDING_TTL: 'canary', LOOP_DETECTION_ENABLED: '1' });
    await sidecar.ready;
    expect(sidecar.lines().filter(({ event }) => event === 'setting_unknown')).toEqual([
      expect.objectContaining({
        level: 'warn',
        msg: 'LOOP_EMBEDING_TTL is no setting and changes nothing; is LOOP_EMBEDDING_TTL meant?',
      }),
    ]);
    expect(sidecar.output()).not.toContain('canary');
  });

  it.each([
    [
      'a damaged model',
      { LOOP_EMBEDDER: 'static', LOOP_EMBEDDING_MODEL_PATH: 'DAMAGED' },
      /the model is damaged/,
    ],
    ['a model without its tokenizer', { LOOP_EMBEDDING_MODEL_PATH: 'DAMAGED' }, /tokenizer\.json/],
    ['a model that is not there', { LOOP_EMBEDDING_MODEL_PATH: '/nowhere/model' }, /\/nowhere\/model/],
    ['a setting that cannot be used', { LOOP_SIMILARITY_THRESHOLD: '95' }, /LOOP_SIMILARITY_THRESHOLD="95"/],
    [
      'an embeddings server that is not there',
      { LOOP_EMBEDDING_BASE_URL: 'http://127.0.0.1:1/v1', LOOP_EMBEDDING_MODEL: 'bge-m3' },
      /embeddings server.*; check LOOP_EMBEDDING_BASE_URL and LOOP_EMBEDDING_MODEL/,
    ],
  ])('fails for %s with a reason and without a socket', async (_, env, reason) => {
    const manifest = createRequire(import.meta.url).resolve('#models/observatory-static-384/manifest.json');
    copyFileSync(manifest, join(place.folder, 'manifest.json'));
    for (const name of ['observatory-static-384.onnx', 'model.onnx'])
      writeFileSync(join(place.folder, name), 'no model');
    const given = Object.entries<string>(env).map(([name, value]) => [
      name,
      value === 'DAMAGED' ? place.folder : value,
    ]);
    const sidecar = start(Object.fromEntries(given));
    expect(await sidecar.exited).toBe(1);
    expect(existsSync(place.socketPath)).toBe(false);
    expect(sidecar.lines()).toEqual([expect.objectContaining({ level: 'fatal', event: 'not_started' })]);
    expect(sidecar.lines()[0].reason).toMatch(reason);
    expect(sidecar.output()).toContain('Embedding sidecar did not start: ');
  });

  it('fails for a port of figures that is taken with the setting and the remedy; a child goes on without figures', async () => {
    const other = createHttpServer();
    onTestFinished(() => void other.close());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const LOOP_METRICS_PORT = `${(other.address() as AddressInfo).port}`;
    const alone = start({ LOOP_METRICS_PORT });
    expect(await alone.exited).toBe(1);
    const reason = `LOOP_METRICS_PORT="${LOOP_METRICS_PORT}" cannot be used: another program listens at 127.0.0.1 there`;
    expect(alone.lines()).toEqual([
      expect.objectContaining({ event: 'not_started', reason: expect.stringContaining(reason) }),
    ]);
    const child = start({ LOOP_METRICS_PORT }, ['--exit-with-stdin']);
    await child.ready;
    expect(child.lines()).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        event: 'metrics_not_served',
        reason: expect.stringContaining(reason),
      }),
    );
    expect((await (await connected()).checkLoop(query('1', 'hello there'), patient)).fitness).toBe('fit');
  });

  it('is refused on the socket of another sidecar, which goes on', async () => {
    await start().ready;
    const second = start();
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(
      /UDS_PATH=".*" cannot be used: another process is serving on .*: stop it/,
    );
    expect((await connected()).isReady).toBe(true);
  });

  it('takes over the socket that a killed sidecar left behind', async () => {
    const first = start();
    await first.ready;
    await first.kill();
    expect(existsSync(place.socketPath)).toBe(true);
    start();
    const client = await connected();
    expect((await client.embed('hello there', patient)).fitness).toBe('fit');
  });
});

it('runs alone as `npm run start:sidecar`, and ends with it', async () => {
  const { PATH, HOME, TMPDIR } = process.env;
  const npm = spawn('npm', ['run', 'start:sidecar'], {
    cwd: resolve(import.meta.dirname, '../../..'),
    env: { PATH, HOME, TMPDIR, UDS_PATH: place.socketPath },
    stdio: ['ignore', 'pipe', 'pipe'],
    // With all that it starts, so that a test that fails leaves nothing.
    detached: true,
  });
  let isOver = false;
  const ended = once(npm, 'close').then(() => {
    isOver = true;
  });
  endWithFile(() => isOver || process.kill(-(npm.pid as number), 'SIGKILL'));
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => (output += chunk));
  await expect.poll(() => output, { timeout: 90_000 }).toContain('"event":"ready"');
  const client = await connected();
  expect((await client.checkLoop(query('1', 'hello there'), patient)).fitness).toBe('fit');
  npm.kill('SIGTERM');
  await ended;
  expect(output).toContain('"event":"draining"');
  expect(existsSync(place.socketPath)).toBe(false);
});

describe('checks', () => {
  it('find a loop among five similar prompts, and not across sessions and tenants', async () => {
    start();
    const client = await connected();
    const prompts = [
      'How do I reset my password?',
      'how can I reset my password please',
      'What do I do to reset my password?',
      'Please tell me how to reset my password',
      'I would like to know how I can reset my password',
    ];
    const answers = [];
    for (const [index, prompt] of prompts.entries())
      answers.push(await client.checkLoop(query(`r${index}`, prompt), patient));
    expect(answers[0]).toMatchObject({ loop_detected: false, compared_count: 0, threshold: 0.825 });
    expect(answers[1]).toMatchObject({ loop_detected: true, similar_request_id: 'r0' });
    expect(answers.filter(({ loop_detected }) => loop_detected).length).toBeGreaterThanOrEqual(3);
    const elsewhere = { session_id: 'other' };
    expect(await client.checkLoop(query('x', prompts[0] as string, elsewhere), patient)).toMatchObject({
      loop_detected: false,
      compared_count: 0,
    });
    for (const tenant_id of ['tenant|session', '*', '\u{1F600}'.repeat(200)]) {
      const answer = await client.checkLoop(query('x', prompts[0] as string, { tenant_id }), patient);
      expect(answer.compared_count).toBe(0);
    }
  });

  it('keep to what the environment says: threshold and size of the history', async () => {
    start({ LOOP_SIMILARITY_THRESHOLD: '1', LOOP_HISTORY_SIZE: '2', LOOP_EMBEDDING_TTL: '30m' });
    const client = await connected();
    const text = 'summarise the quarterly report';
    for (const id of ['1', '2', '3']) await client.checkLoop(query(id, text), patient);
    expect(await client.checkLoop(query('4', text), patient)).toMatchObject({ compared_count: 2 });
    expect(await client.describe(patient)).toMatchObject({
      loop_similarity_threshold: 1,
      history_size: 2,
      ttl_s: 1_800,
      checks_total: 4,
      store: 'memory',
      model_id: 'observatory-static-384-v1',
      needsStrictGate: true,
    });
  });

  it('neither compare nor remember an empty text', async () => {
    start();
    const client = await connected();
    for (const id of ['1', '2'])
      expect(await client.checkLoop(query(id, '   '), patient)).toMatchObject({
        fitness: 'empty',
        loop_detected: false,
        compared_count: 0,
      });
    expect(await client.embed('', patient)).toMatchObject({ fitness: 'empty', vector: null });
  });

  it('beyond the queue are busy at once, the rest is answered, and then there is room again', async () => {
    start({ LOOP_QUEUE_MAX: '8', LOOP_EMBEDDING_MODEL_PATH: await makeToyMinilm() });
    const client = await connected();
    const text = 'red green blue '.repeat(400);
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        client
          .checkLoop(query(`${index}`, `${index} ${text}`, { session_id: `s${index}` }), patient)
          .then(() => 'answered')
          .catch((error) => error.reason),
      ),
    );
    expect(new Set(outcomes)).toEqual(new Set(['answered', 'busy']));
    expect(outcomes.filter((outcome) => outcome === 'answered').length).toBeGreaterThanOrEqual(4);
    await expect
      .poll(() => client.checkLoop(query('after', 'red green'), patient).catch((error) => error.reason))
      .toMatchObject({ fitness: 'fit' });
  });

  it('whose time is up are rejected in time', async () => {
    start();
    const client = await connected();
    const text = 'a fairly long prompt about many different things '.repeat(1_000);
    const late = Array.from({ length: 100 }, (_, index) =>
      client
        .checkLoop(query(`${index}`, `${index} ${text}`), { timeoutMs: 1, traceParent: null })
        .then(() => 'answered')
        .catch((error) => error.reason),
    );
    const outcomes = new Set(await Promise.all(late));
    expect(outcomes.has('timeout')).toBe(true);
    expect([...outcomes].filter((outcome) => !['timeout', 'answered', 'busy'].includes(outcome))).toEqual([]);
    expect((await client.embed('hello there', patient)).fitness).toBe('fit');
  });

  it('are unavailable while the store is, vectors are given all the same, and no password is shown', async () => {
    const port = await freePort();
    const sidecar = start({ REDIS_URL: `redis://:hunter2hunter2@127.0.0.1:${port}`, LOG_LEVEL: 'debug' });
    const client = await connected();
    await expect(client.checkLoop(query('1', 'hello there'), patient)).rejects.toMatchObject({
      reason: 'unavailable',
    });
    expect((await client.embed('hello there', patient)).fitness).toBe('fit');
    const described = { store: 'redis', failures_total: 1, store_problem: 'Redis is not connected' };
    await expect.poll(() => client.describe(patient)).toMatchObject(described);
    expect(sidecar.lines().map(({ event }) => event)).toContain('store_missing');
    expect(sidecar.output()).not.toContain('hunter2');
  });
});

it('says of its store that it does not serve as soon as it has failed a check, and when it is back', async () => {
  const redis = await new ScriptedRedis().listen();
  onTestFinished(() => redis.close());
  redis.script(([name]) => (String(name) === 'FT.SEARCH' ? [0] : 'OK'));
  start({ REDIS_URL: redis.url });
  const client = await connected();
  const problem = async () => (await client.describe(patient)).store_problem;
  await client.checkLoop(query('1', 'hello there'), patient).catch(() => {});
  await expect.poll(problem, { timeout: 10_000 }).toBeNull();
  redis.script(([name]) => (String(name) === 'FT.SEARCH' ? new RedisError('ERR no') : 'OK'));
  await expect(client.checkLoop(query('2', 'hello there'), patient)).rejects.toMatchObject({
    reason: 'error',
  });
  await expect.poll(problem).toBe('Redis answered with an error (ERR)');
  redis.script(([name]) => (String(name) === 'FT.SEARCH' ? [0] : 'OK'));
  await expect.poll(problem, { timeout: 10_000 }).toBeNull();
});

it('says of its Redis how often it was asked in vain, and made the index', async () => {
  const redis = await new ScriptedRedis().listen();
  onTestFinished(() => redis.close());
  const nothingFound = [0];
  redis.script(([name]) => (String(name) === 'FT.SEARCH' ? nothingFound : 'OK'));
  const port = await freePort();
  start({ REDIS_URL: redis.url, LOOP_METRICS_PORT: `${port}` });
  const client = await connected();
  const read = async (name: string, type: 'counter' | 'gauge'): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const metric = `observatory_sidecar_history_${name}`;
    expect(text).toContain(`# TYPE ${metric} ${type}\n`);
    return Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  const count = (name: string) => read(`${name}_total`, 'counter');
  let serial = 0;
  const outcome = () =>
    client.checkLoop(query(`${++serial}`, 'hello there'), patient).then(
      ({ fitness }) => fitness,
      ({ reason }) => reason,
    );
  // On a busy machine a reply may come too late, too.
  await expect.poll(outcome).toBe('fit');
  expect([await count('indexes_created'), await count('refused')]).toEqual([1, 0]);
  const timeouts = await count('timeouts');
  redis.script(() => NO_REPLY);
  expect(await outcome()).toBe('unavailable');
  expect(await count('timeouts')).toBe(timeouts + 1);
  expect(await read('pending', 'gauge')).toBeGreaterThan(0);
});

/**
 * Finds every text equal to every other.
 *
 * @param isHung while it says so, nothing is answered
 * @param vector of each text
 */
async function startEqualApi(
  isHung = () => false,
  vector: () => number[] | Promise<number[]> = () => [1, 0, 0, 0],
): Promise<string> {
  const api = createHttpServer(async (request, response) => {
    const { input } = (await json(request)) as { input: string[] };
    if (isHung()) return;
    const embedding = await vector();
    response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding })) }));
  });
  onTestFinished(() => {
    api.close();
    api.closeAllConnections();
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`;
}

it('an embeddings API that hangs costs a few checks their time, is left alone, and used once it answers again', async () => {
  let isHung = false;
  let askedInVain = 0;
  const baseUrl = await startEqualApi(() => {
    askedInVain += isHung ? 1 : 0;
    return isHung;
  });
  const port = await freePort();
  const sidecar = start({
    LOOP_EMBEDDING_BASE_URL: baseUrl,
    LOOP_EMBEDDING_MODEL: 'equal',
    LOOP_METRICS_PORT: `${port}`,
  });
  const client = await connected();
  const remembered = await client.checkLoop(query('first', 'What was asked before?'), patient);
  expect(remembered.fitness).toBe('fit');
  isHung = true;
  let serial = 0;
  const outcome = (context = patient, prompt = `What is new about ${++serial}?`) =>
    client
      .checkLoop(query(`${++serial}`, prompt), context)
      .then(({ fitness }) => fitness)
      .catch(({ reason }) => reason);
  // One that is left alone is told at once; on a busy machine that, too, may come too late for who waits this briefly.
  const brief = { timeoutMs: 50, traceParent: null };
  while ((await outcome(brief)) !== 'unavailable');
  // Three failures in a row; one more may be on its way by then.
  expect(askedInVain).toBeLessThanOrEqual(5);
  expect(await outcome(patient, 'What was asked before?')).toBe('fit');
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/checks_total\{result="failed",reason="unavailable"\} [1-9]/);
  expect(sidecar.output()).toContain('left alone');
  isHung = false;
  await expect.poll(() => outcome(), { timeout: 10_000 }).toBe('fit');
  expect(await outcome()).toBe('fit');
});

it('an embeddings API has no more texts before it than LOOP_QUEUE_MAX, and its queue is in the figures', async () => {
  let isHung = false;
  const port = await freePort();
  start({
    LOOP_EMBEDDING_BASE_URL: await startEqualApi(() => isHung),
    LOOP_EMBEDDING_MODEL: 'equal',
    LOOP_QUEUE_MAX: '2',
    LOOP_METRICS_PORT: `${port}`,
  });
  const client = await connected();
  await client.embed('What was asked before?', patient);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/observatory_sidecar_seconds_count\{part="embedding_queue"\} [1-9]/);
  isHung = true;
  const brief = { timeoutMs: 500, traceParent: null };
  const outcomes = await Promise.all(
    [1, 2, 3, 4].map((serial) => client.embed(`Text ${serial}`, brief).catch(({ reason }) => reason)),
  );
  expect(outcomes.toSorted()).toEqual(['busy', 'busy', 'timeout', 'timeout']);
});

it('an embeddings API that has another model by now ends the sidecar, and the next one takes it', async () => {
  let vector = [1, 0, 0, 0];
  const settings = {
    LOOP_EMBEDDING_BASE_URL: await startEqualApi(undefined, () => vector),
    LOOP_EMBEDDING_MODEL: 'equal',
  };
  const sidecar = start(settings);
  const client = await connected();
  expect((await client.checkLoop(query('first', 'What was asked before?'), patient)).fitness).toBe('fit');
  vector = [1, 0];
  await expect(client.checkLoop(query('second', 'What is asked now?'), patient)).rejects.toThrow();
  expect(await sidecar.exited).toBe(1);
  expect(sidecar.output()).toContain('2 numbers where 4 are expected');
  start(settings);
  await expect.poll(() => client.isReady, { timeout: 20_000 }).toBe(true);
  expect((await client.checkLoop(query('third', 'What is asked now?'), patient)).fitness).toBe('fit');
});

describe.each([
  {
    name: 'an API that finds all texts equal',
    isAbsent: false,
    settings: async () => ({ LOOP_EMBEDDING_BASE_URL: await startEqualApi(), LOOP_EMBEDDING_MODEL: 'equal' }),
  },
  {
    name: 'a model of MiniLM’s shape, with random weights',
    isAbsent: !isMinilmShared,
    settings: async () => {
      const folder = temporaryFolder();
      await fillWithMinilmShape(folder);
      return { LOOP_EMBEDDING_MODEL_PATH: folder };
    },
  },
])('with $name', ({ isAbsent, settings }) => {
  it.skipIf(isAbsent)('a template filled in anew is no loop, and a paraphrase is one', async () => {
    start(await settings());
    const client = await connected();
    let serial = 0;
    /** What became of the second of two prompts. */
    const outcome = async (...prompts: [string, string]) => {
      const session_id = `s${++serial}`;
      await client.checkLoop(query('1', prompts[0], { session_id }), patient);
      const answer = await client.checkLoop(query('2', prompts[1], { session_id }), patient);
      expect([answer.compared_count, answer.threshold]).toEqual([1, 0.95]);
      expect(answer.max_similarity).toBeGreaterThan(0.95);
      return answer.loop_detected ? 'loop' : answer.vetoed_by;
    };
    const filled = (filling: string) => `Read ${filling} from end to end and list every open question in it`;
    const templated = (filling: string) => outcome(filled('the report'), filled(filling));
    expect(await templated('the invoices')).toBe('one_word');
    expect(await templated('the notes of the meeting')).toBe('one_word');
    expect(await templated('the report 2')).toBe('numbers');
    expect(await templated('src/report.ts')).toBe('code');
    expect(
      await outcome(
        'Run the test suite again and tell me which tests fail.',
        'Please rerun all tests and list the failing ones.',
      ),
    ).toBe('loop');
    expect(await templated('the report')).toBe('loop');
  });
});

describe('what it shows', () => {
  it('carries the trace of a call, and no prompt, in log lines and metrics', async () => {
    const port = await freePort();
    const sidecar = start({ LOG_LEVEL: 'debug', LOOP_METRICS_PORT: `${port}` });
    const client = await connected();
    const traced = { ...patient, traceParent: TRACE };
    await client.checkLoop(query('1', 'tell me about marmalade'), traced);
    await client.checkLoop(query('2', 'tell me about marmalade'), traced);
    await expect(client.checkLoop(query('3', 'marmalade', { tenant_id: '' }), traced)).rejects.toMatchObject({
      reason: 'invalid',
    });
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toContain('observatory_sidecar_checks_total{result="loop",reason=""} 1');
    expect(text).toContain('observatory_sidecar_checks_total{result="failed",reason="invalid"} 1');
    for (const part of ['check', 'embedding', 'embedding_queue', 'lane', 'search', 'record'])
      expect(text).toMatch(new RegExp(`observatory_sidecar_seconds_count\\{part="${part}"\\} [12]`));
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    const checks = sidecar.lines().filter(({ event }) => event === 'check' || event === 'check_failed');
    expect(checks.map(({ trace_id }) => trace_id)).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
    expect(text + sidecar.output()).not.toContain('marmalade');
  });

  it('is served at the address it is told to, where a scraper of another container asks', async () => {
    const port = await freePort();
    await start({ LOOP_METRICS_PORT: `${port}`, LOOP_METRICS_HOST: '127.0.0.2' }).ready;
    expect((await fetch(`http://127.0.0.2:${port}/metrics`)).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
  });

  it('is enough for a container health check', async () => {
    const check = (args: string[] = []) =>
      promisify(execFile)(process.execPath, [HEALTH_CHECK, ...args], {
        env: { PATH: process.env.PATH, UDS_PATH: place.socketPath },
      }).then(
        () => 0,
        ({ code }) => code,
      );
    expect(await check()).toBe(1);
    await start().ready;
    expect(await check()).toBe(0);
    expect(await check(['--store'])).toBe(0);
  });
});

describe('the end', () => {
  it('by SIGTERM is orderly: status 0 and no socket', async () => {
    const sidecar = start();
    await sidecar.ready;
    const client = await connected();
    sidecar.process.kill('SIGTERM');
    expect(await sidecar.exited).toBe(0);
    expect(existsSync(place.socketPath)).toBe(false);
    await expect.poll(() => client.isReady).toBe(false);
  });

  it('comes with that of its parent, if it is a child', async () => {
    const sidecar = start({}, ['--exit-with-stdin']);
    await sidecar.ready;
    sidecar.process.kill('SIGINT');
    expect((await connected()).isReady).toBe(true);
    sidecar.process.stdin?.destroy();
    expect(await sidecar.exited).toBe(0);
    expect(existsSync(place.socketPath)).toBe(false);
  });

  it.each([
    ['SIGTERM', 'parent_gone'],
    ['parent_gone', 'SIGTERM'],
  ])('answers what has begun though both ends come meanwhile: %s, then %s', async (...ends) => {
    let isHeld = false;
    const held = deferred();
    let asked = deferred();
    const baseUrl = await startEqualApi(
      () => false,
      async () => {
        asked.resolve();
        if (isHeld) await held.promise;
        return [1, 0, 0, 0];
      },
    );
    const sidecar = start({ LOOP_EMBEDDING_BASE_URL: baseUrl, LOOP_EMBEDDING_MODEL: 'equal' }, [
      '--exit-with-stdin',
    ]);
    const client = await connected();
    isHeld = true;
    asked = deferred();
    const begun = client.embed('hello there', patient).catch(({ reason }) => reason);
    await asked.promise;
    for (const end of ends) {
      if (end === 'SIGTERM') sidecar.process.kill('SIGTERM');
      else sidecar.process.stdin?.destroy();
      await expect
        .poll(() => sidecar.lines(), { timeout: 10_000 })
        .toContainEqual(expect.objectContaining({ event: 'draining', why: end }));
    }
    held.resolve();
    expect(await begun).toMatchObject({ fitness: 'fit' });
    expect(await sidecar.exited).toBe(0);
  });

  it('by SIGKILL under load leaves every call answered or rejected at once', async () => {
    const sidecar = start();
    const client = await connected();
    const ask = (index: number): Promise<string> =>
      client
        .checkLoop(query(`${index}`, `question number ${index}`, { session_id: `s${index}` }), {
          timeoutMs: 60_000,
          traceParent: null,
        })
        .then(() => 'answered')
        .catch((error) => error.reason);
    const calls = Array.from({ length: 200 }, (_, index) => ask(index));
    await calls[0];
    // On a busy machine all of them may be answered by now: what comes after a standstill is not.
    sidecar.process.kill('SIGSTOP');
    calls.push(ask(200));
    sidecar.process.kill('SIGKILL');
    // On a slow one some of them find its queue full, and are told at once.
    const ends = new Set(await Promise.all(calls));
    ends.delete('busy');
    expect([...ends].sort()).toEqual(['answered', 'unavailable']);
    await expect(client.embed('hello there', patient)).rejects.toMatchObject({ reason: 'unavailable' });
  });
});
