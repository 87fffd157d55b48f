/** The embedder for OpenAI-compatible servers against real sockets, with a server that does what a test says. */
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpEmbedder, type HttpEmbedderSettings } from '#adapters/embeddings-http';
import type { Embedder, Embedding, EmbeddingFailure, EmbeddingFailureReason } from '#contracts';
import {
  FakeClock,
  liveBytes,
  respondJson,
  ScriptedUpstream,
  type UpstreamCall,
  type UpstreamScript,
} from '#testing';

const KEY = 'sk-not-to-be-seen';
const DIMENSION = 4;

const inputOf = (call: UpstreamCall): string[] => (call.json as { input: string[] }).input;
/** Each text its own direction, not of unit length. */
const numbersFor = (text: string, dimension = DIMENSION) =>
  Array.from({ length: dimension }, (_, at) => (text.charCodeAt(at % text.length) % 13) + at + 1);
const rowsFor = (call: UpstreamCall, dimension = DIMENSION) =>
  inputOf(call).map((text, index) => ({
    object: 'embedding',
    index,
    embedding: numbersFor(text, dimension),
  }));
const answer: UpstreamScript = (call, response) =>
  respondJson(response, 200, { object: 'list', data: rowsFor(call), model: 'bge-m3' });
const unit = (text: string) => {
  const numbers = numbersFor(text);
  return Float32Array.from(numbers, (value) => value / Math.hypot(...numbers));
};
const unitOf = (text: string): Embedding => ({ fitness: 'fit', vector: unit(text) });

let upstream: ScriptedUpstream;
let opened: Embedder[];
let waits: number[];

beforeEach(async () => {
  upstream = await new ScriptedUpstream().listen();
  upstream.script(answer);
  opened = [];
  waits = [];
});
afterEach(async () => {
  await Promise.all(opened.map((embedder) => embedder.close()));
  await upstream.close();
});

const clock = new FakeClock();
/** Waits between attempts are written down and not waited for. */
const wait = async (ms: number) => void waits.push(ms);
async function open(settings: Partial<HttpEmbedderSettings> = {}, surroundings = {}): Promise<HttpEmbedder> {
  const embedder = await HttpEmbedder.open(
    { baseUrl: upstream.origin, model: 'bge-m3', apiKey: KEY, ...settings },
    { clock, random: () => 1, wait, ...surroundings },
  );
  opened.push(embedder);
  return embedder;
}
async function openThen(script: UpstreamScript, settings: Partial<HttpEmbedderSettings> = {}) {
  const embedder = await open(settings);
  upstream.script(script);
  return embedder;
}

async function failureOf(work: Promise<unknown>): Promise<EmbeddingFailure> {
  const failure = await work.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: EmbeddingFailure) => error,
  );
  for (const secret of [KEY, 'SECRET']) {
    expect(failure.message).not.toContain(secret);
    expect(JSON.stringify({ ...failure, cause: failure.cause ?? null })).not.toContain(secret);
  }
  return failure;
}
const reasonOf = async (work: Promise<unknown>): Promise<EmbeddingFailureReason> =>
  (await failureOf(work)).reason;

describe('an embedder behind an OpenAI-compatible server', () => {
  it('asks as the API wants it, and describes itself by what it learnt', async () => {
    const embedder = await open();
    expect(embedder.description).toEqual({
      model_id: 'bge-m3',
      dimension: DIMENSION,
      tokens_max: 8_192,
      loopWhenSimilarityAbove: 0.95,
      hitWhenCosineAtLeast: 0.92,
      needsStrictGate: false,
    });
    expect(await embedder.embed('an order is late')).toEqual(unitOf('an order is late'));
    expect(upstream.calls.at(-1)).toMatchObject({
      method: 'POST',
      url: '/v1/embeddings',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      json: { model: 'bge-m3', input: ['an order is late'], encoding_format: 'float' },
    });
  });

  it('sends no key where it has none, and keeps path and query of the base URL', async () => {
    await open({ baseUrl: `${upstream.origin}/x/v3/?api-version=2`, apiKey: null });
    expect(upstream.calls[0]?.url).toBe('/x/v3/embeddings?api-version=2');
    expect(upstream.calls[0]?.headers).not.toHaveProperty('authorization');
  });

  it('takes its token bound from its settings, and cuts what is longer', async () => {
    const embedder = await open({ tokensMax: 2 });
    expect(embedder.description.tokens_max).toBe(2);
    await embedder.embed('123456789');
    expect(inputOf(upstream.calls[1] as UpstreamCall)).toEqual(['12345678']);
  });

  it('asks nothing for empty text', async () => {
    const embedder = await open();
    upstream.script(answer);
    for (const text of ['', ' \n\t '])
      expect(await embedder.embed(text)).toEqual({ fitness: 'empty', vector: null });
    expect(upstream.calls).toEqual([]);
  });

  it('sends half a character as a replacement, never as half', async () => {
    const embedder = await open({ tokensMax: 1 });
    await embedder.embed('abc🎉');
    expect(inputOf(upstream.calls[1] as UpstreamCall)).toEqual(['abc\ufffd']);
  });

  it.each([
    ['a base URL that is none', { baseUrl: 'bge-m3' }, /base URL/],
    ['no model', { model: ' ' }, /model/],
    ['a batch of none', { batchTextsMax: 0 }, /batchTextsMax/],
  ])('does not open with %s', async (_, settings, words) => {
    await expect(open(settings)).rejects.toThrow(words);
    expect(upstream.calls).toEqual([]);
  });

  it('does not open where nothing listens, and says so', async () => {
    const gone = await new ScriptedUpstream().listen();
    const { origin } = gone;
    await gone.close();
    const failure = await failureOf(open({ baseUrl: origin }));
    expect(failure).toMatchObject({ name: 'EmbeddingFailure', reason: 'unavailable' });
    expect(failure.message).toContain('the connection was refused');
    expect(waits).toEqual([200, 400]);
  });

  it('does not open on a model that answers zeros', async () => {
    upstream.script((call, response) =>
      respondJson(response, 200, { data: inputOf(call).map((_, index) => ({ index, embedding: [0, 0] })) }),
    );
    expect(await failureOf(open())).toMatchObject({
      reason: 'failed',
      message: expect.stringContaining('zero vector'),
    });
  });
});

describe('texts that come together', () => {
  it('are asked for together, and each gets its own vector though the answer is in another order', async () => {
    const embedder = await openThen((call, response) =>
      respondJson(response, 200, { data: rowsFor(call).reverse() }),
    );
    const texts = ['alpha', 'beta', 'gamma', 'delta'];
    expect(await Promise.all(texts.map((text) => embedder.embed(text)))).toEqual(texts.map(unitOf));
    expect(upstream.calls.map(inputOf)).toEqual([texts]);
    expect(embedder.queuedCount).toBe(0);
  });

  it('gather while requests are under way, in batches within the bound', async () => {
    const held: (() => void)[] = [];
    let arrived = () => {};
    const embedder = await openThen(
      (call, response, index) => {
        held.push(() => answer(call, response, index));
        arrived();
      },
      { batchTextsMax: 3 },
    );
    const bothSent = new Promise<void>((resolve) => {
      arrived = () => held.length === 2 && resolve();
    });
    const answers = Array.from({ length: 11 }, (_, at) => embedder.embed(`text ${at}`));
    await bothSent;
    expect(upstream.calls.map((call) => inputOf(call).length)).toEqual([3, 3]);
    expect(embedder.queuedCount).toBe(11);
    arrived = () => held.at(-1)?.();
    for (const release of held.slice()) release();
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 11 }, (_, at) => unitOf(`text ${at}`)));
    expect(upstream.calls.map((call) => inputOf(call).length)).toEqual([3, 3, 3, 2]);
  });

  it('are split by bytes too', async () => {
    const embedder = await openThen(answer, { tokensMax: 100_000 });
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(400_000));
    await Promise.all(texts.map((text) => embedder.embed(text)));
    expect(upstream.calls.map((call) => inputOf(call).length).sort()).toEqual([1, 2]);
  });

  it.each([
    ['that is its own', {}, 2_048],
    ['that it was given', { queueCountMax: 100 }, 100],
  ])(
    'are refused as busy past the bound of the queue %s, and the others are not harmed',
    async (_, settings, textsMax) => {
      const held: (() => void)[] = [];
      const embedder = await openThen((call, response, index) => {
        if (index < 2) held.push(() => answer(call, response, index));
        else answer(call, response, index);
      }, settings);
      const accepted = Array.from({ length: textsMax }, (_, at) => embedder.embed(`t${at}`));
      expect(await reasonOf(embedder.embed('SECRET one too many'))).toBe('busy');
      while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
      for (const release of held) release();
      expect((await Promise.all(accepted)).every(({ fitness }) => fitness === 'fit')).toBe(true);
      expect(await embedder.embed('again')).toEqual(unitOf('again'));
    },
  );

  it('say how long each waited until it was asked for', async () => {
    const waited: number[] = [];
    const held: (() => void)[] = [];
    const embedder = await openThen(
      (call, response, index) => {
        if (held.length < 2) held.push(() => answer(call, response, index));
        else answer(call, response, index);
      },
      { batchTextsMax: 1, onWaited: (ms) => waited.push(ms) },
    );
    const texts = ['one', 'two', 'behind both'].map((text) => embedder.embed(text));
    while (held.length < 2) await nextTurn();
    clock.advance(40);
    for (const release of held) release();
    await Promise.all(texts);
    // The first is its own warm-up.
    expect(waited).toEqual([0, 0, 0, 40]);
  });

  it('are bounded by bytes in the queue', async () => {
    const embedder = await openThen(() => {}, { tokensMax: 2_000_000 });
    const waiting = [embedder.embed('a'.repeat(8_000_000)), embedder.embed('b'.repeat(8_000_000))];
    expect(await reasonOf(embedder.embed('c'.repeat(1_000_000)))).toBe('busy');
    const failures = Promise.all(waiting.map(reasonOf));
    await embedder.close();
    expect(await failures).toEqual(['unavailable', 'unavailable']);
  });
});

describe('time that is up', () => {
  it('costs nothing where it was up before', async () => {
    const embedder = await openThen(answer);
    expect(await reasonOf(embedder.embed('SECRET', { timeoutMs: 0 }))).toBe('expired');
    expect(upstream.calls).toEqual([]);
  });

  it('drops a waiting text before it is sent', async () => {
    const held: (() => void)[] = [];
    const embedder = await openThen(
      (call, response, index) => {
        if (index < 2) held.push(() => answer(call, response, index));
        else answer(call, response, index);
      },
      { batchTextsMax: 1 },
    );
    const sent = [embedder.embed('one'), embedder.embed('two')];
    const late = embedder.embed('SECRET late', { timeoutMs: 1_000 });
    const patient = embedder.embed('patient', { timeoutMs: 60_000 });
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const expired = reasonOf(late);
    clock.advance(1_000);
    for (const release of held) release();
    expect(await expired).toBe('expired');
    expect(await patient).toEqual(unitOf('patient'));
    await Promise.all(sent);
    expect(upstream.calls.flatMap(inputOf)).toEqual(['one', 'two', 'patient']);
    expect(embedder.queuedCount).toBe(0);
  });

  it('ends the request when nobody waits for any of its texts', async () => {
    const calls: UpstreamCall[] = [];
    const embedder = await openThen((call) => void calls.push(call));
    const reasons = await Promise.all(
      ['SECRET a', 'SECRET b'].map((text) => reasonOf(embedder.embed(text, { timeoutMs: 60 }))),
    );
    expect(reasons).toEqual(['expired', 'expired']);
    await calls[0]?.aborted;
    upstream.script(answer);
    expect(await embedder.embed('next')).toEqual(unitOf('next'));
  });

  it('of one text does not end the request of the others', async () => {
    let release = () => {};
    const embedder = await openThen((call, response, index) => {
      release = () => answer(call, response, index);
    });
    const patient = embedder.embed('patient');
    expect(await reasonOf(embedder.embed('SECRET hurried', { timeoutMs: 60 }))).toBe('expired');
    release();
    expect(await patient).toEqual(unitOf('patient'));
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('an answer that is no good', () => {
  it.each<[string, UpstreamScript, string]>([
    ['bad JSON', (_, response) => response.end('{"data":[SECRET'), 'not JSON'],
    ['no list', (_, response) => respondJson(response, 200, { error: 'SECRET' }), 'without a list'],
    [
      'the wrong count',
      (call, response) => respondJson(response, 200, { data: [...rowsFor(call), ...rowsFor(call)] }),
      '2 embeddings where 1',
    ],
    [
      'the wrong dimension',
      (call, response) => respondJson(response, 200, { data: rowsFor(call, DIMENSION + 1) }),
      '5 numbers where 4',
    ],
    [
      'a bare NaN',
      (_, response) => response.end('{"data":[{"index":0,"embedding":[NaN,1,1,1]}]}'),
      'not JSON',
    ],
    [
      'null for a number',
      (_, response) => respondJson(response, 200, { data: [{ index: 0, embedding: [null, 1, 1, 1] }] }),
      'no vector',
    ],
    ['a redirect', (_, response) => response.writeHead(307, { location: '/SECRET' }).end(), 'answered 307'],
    ['401', (_, response) => respondJson(response, 401, { error: `bad key ${KEY}` }), 'API key'],
    ['404', (_, response) => respondJson(response, 404, {}), 'no such model'],
    ['400', (call, response) => respondJson(response, 400, { error: inputOf(call) }), 'answered 400'],
  ])('with %s fails at once, says why, and is not asked for again', async (_, script, words) => {
    const embedder = await openThen(script);
    const failure = await failureOf(embedder.embed('SECRET text'));
    expect(failure).toMatchObject({ reason: 'failed', message: expect.stringContaining(words) });
    expect(upstream.calls).toHaveLength(1);
    upstream.script(answer);
    expect(await embedder.embed('after')).toEqual(unitOf('after'));
  });

  it('is not read beyond its bound', async () => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const calls: UpstreamCall[] = [];
    const embedder = await openThen((call, response) => {
      calls.push(call);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', more);
      };
      more();
    });
    const failure = await failureOf(embedder.embed('SECRET'));
    expect(failure).toMatchObject({ reason: 'failed', message: expect.stringContaining('more bytes') });
    await calls[0]?.aborted;
  });

  it('of zeros says that there is nothing to compare', async () => {
    const embedder = await openThen((_, response) =>
      respondJson(response, 200, { data: [{ index: 0, embedding: [0, 0, 0, 0] }] }),
    );
    expect(await embedder.embed('text')).toEqual({ fitness: 'empty', vector: null });
  });

  it('for one text of a batch does not cost the others theirs', async () => {
    const embedder = await openThen((call, response, index) =>
      inputOf(call).includes('SECRET poison')
        ? respondJson(response, 422, { error: 'too long' })
        : answer(call, response, index),
    );
    const texts = ['a', 'b', 'SECRET poison', 'd', 'e'];
    const outcomes = await Promise.allSettled(texts.map((text) => embedder.embed(text)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
  });

  it('about the length is met by a shorter text, twice at most', async () => {
    const embedder = await openThen((call, response, index) =>
      (inputOf(call)[0]?.length ?? 0) > 600 ? respondJson(response, 413, {}) : answer(call, response, index),
    );
    const text = '问'.repeat(9_000);
    expect(await embedder.embed(text)).toEqual(unitOf('问'.repeat(562)));
    expect(upstream.calls.map((call) => inputOf(call)[0]?.length)).toEqual([9_000, 2_250, 562]);
    expect(await reasonOf(embedder.embed('x'.repeat(32_000)))).toBe('failed');
    expect(upstream.calls).toHaveLength(6);
  });
});

describe('a server in trouble', () => {
  it.each([429, 500, 503])(
    'that answers %i and is fine then is asked again after a pause',
    async (status) => {
      const embedder = await openThen((call, response, index) =>
        index < 2 ? respondJson(response, status, { error: 'SECRET' }) : answer(call, response, index),
      );
      expect(await embedder.embed('text')).toEqual(unitOf('text'));
      expect(waits).toEqual([200, 400]);
      expect(upstream.calls).toHaveLength(3);
    },
  );

  it('is given the time it asks for, by everybody', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const patient = async (ms: number) => {
      waits.push(ms);
      await released;
    };
    const embedder = await open({ batchTextsMax: 1 }, { wait: patient });
    upstream.script((call, response, index) =>
      index === 0 ? respondJson(response, 429, {}, { 'retry-after': '7' }) : answer(call, response, index),
    );
    const first = embedder.embed('first');
    while (waits.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = embedder.embed('second');
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(upstream.calls).toHaveLength(1);
    release();
    expect(await Promise.all([first, second])).toEqual([unitOf('first'), unitOf('second')]);
    expect(waits).toEqual([7_000]);
  });

  it('that wants more time than texts have is not waited for', async () => {
    const embedder = await openThen((_, response) =>
      respondJson(response, 503, {}, { 'retry-after': '3600' }),
    );
    expect(await reasonOf(embedder.embed('SECRET'))).toBe('unavailable');
    expect(waits).toEqual([]);
  });

  it('that stays in trouble fails after the last attempt', async () => {
    const embedder = await openThen((_, response) => respondJson(response, 500, {}), { attemptsMax: 4 });
    expect(await failureOf(embedder.embed('SECRET'))).toMatchObject({
      reason: 'unavailable',
      message: 'the embeddings server: it answered 500',
    });
    expect(upstream.calls).toHaveLength(4);
    expect(waits).toEqual([200, 400, 800]);
  });

  it.each<[string, UpstreamScript]>([
    ['before an answer', (_, response) => response.destroy()],
    [
      'in the middle of one',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"data":', () => response.destroy());
      },
    ],
  ])('that hangs up %s is asked again', async (_, hangUp) => {
    const embedder = await openThen((call, response, index) =>
      (index === 0 ? hangUp : answer)(call, response, index),
    );
    expect(await embedder.embed('text')).toEqual(unitOf('text'));
    expect(upstream.calls).toHaveLength(2);
  });

  it('leaves nothing of its pauses behind, however long it stays in trouble', async () => {
    const ends: WeakRef<object>[] = [];
    const embedder = await open(
      {},
      {
        wait: async () => {
          const end = {};
          ends.push(new WeakRef(end));
          return end;
        },
      },
    );
    upstream.script((_call, response) => respondJson(response, 503, {}));
    for (let text = 0; text < 5; text += 1)
      expect(await reasonOf(embedder.embed(`text ${text}`))).toBe('unavailable');
    expect(ends.length).toBeGreaterThanOrEqual(5);
    await nextTurn();
    liveBytes();
    expect(ends.filter((end) => end.deref() !== undefined)).toEqual([]);
  });

  it('that is too slow is hung up on and asked again', async () => {
    const slow: UpstreamCall[] = [];
    const embedder = await openThen(
      (call, response, index) => (index === 0 ? void slow.push(call) : answer(call, response, index)),
      { attemptTimeoutMs: 500 },
    );
    expect(await embedder.embed('text')).toEqual(unitOf('text'));
    await slow[0]?.aborted;
  });

  it('that dribbles is too slow as well', async () => {
    const embedder = await openThen(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
      { attemptTimeoutMs: 200, attemptsMax: 1 },
    );
    expect(await failureOf(embedder.embed('SECRET'))).toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining('in time'),
    });
  });

  it('that accepts and says nothing at all is given up after the attempt’s time', async () => {
    const sockets = new Set<import('node:net').Socket>();
    const mute = createServer((socket) => void sockets.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as import('node:net').AddressInfo;
    const settings = { baseUrl: `http://127.0.0.1:${port}`, attemptTimeoutMs: 100, attemptsMax: 2 };
    expect(await reasonOf(open(settings))).toBe('unavailable');
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  it('is asked without the texts that expired meanwhile', async () => {
    const embedder = await open(
      {},
      {
        wait: async () => void clock.advance(5_000),
      },
    );
    upstream.script((call, response, index) =>
      index === 0 ? respondJson(response, 500, {}) : answer(call, response, index),
    );
    const hurried = reasonOf(embedder.embed('SECRET hurried', { timeoutMs: 4_000 }));
    const patient = embedder.embed('patient', { timeoutMs: 60_000 });
    expect(await hurried).toBe('expired');
    expect(await patient).toEqual(unitOf('patient'));
    expect(upstream.calls.map(inputOf)).toEqual([['SECRET hurried', 'patient'], ['patient']]);
  });
});

describe('closing', () => {
  it('fails what is under way and what waits, and refuses what comes', async () => {
    const embedder = await openThen(() => {}, { batchTextsMax: 1 });
    const reasons = Promise.all(['a', 'b', 'c'].map((text) => reasonOf(embedder.embed(text))));
    await embedder.close();
    await embedder.close();
    expect(await reasons).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect(await reasonOf(embedder.embed('d'))).toBe('unavailable');
    expect(embedder.queuedCount).toBe(0);
  });

  it('does not wait for a pause to end', async () => {
    let isRefused = false;
    const random = () => {
      isRefused = true;
      return 1;
    };
    const embedder = await open({}, { wait: undefined, random });
    upstream.script((_, response) => respondJson(response, 429, {}, { 'retry-after': '30' }));
    const reason = reasonOf(embedder.embed('a'));
    while (!isRefused) await new Promise((resolve) => setImmediate(resolve));
    await embedder.close();
    expect(await reason).toBe('unavailable');
  });
});
