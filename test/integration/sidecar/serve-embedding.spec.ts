/** Server and client of the embedding service over a real socket, with handlers that do what a test tells them. */
import { spawn } from 'node:child_process';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttp2 } from 'node:http2';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CallContext,
  EMBEDDING_SERVICE,
  type EmbeddingHandlers,
  type EmbeddingServer,
  probeHealth,
  SidecarClient,
  SOCKET_PATH_BYTES_MAX,
  serveEmbedding,
  TEXT_BYTES_MAX,
} from '#adapters/grpc';
import { EmbeddingFailure, PromptHistoryFailure } from '#contracts';
import { deferred } from '#kernel';
import { buildLoopAnswer, buildSidecarDescription } from '#testing';
import { openRawClient, type RawClient } from './raw-client.js';
import { makePlace, patient, query, type SidecarPlace } from './sidecar-place.js';

const TRACE = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';

let place: SidecarPlace;
let contexts: CallContext[];
const opened: { close(): unknown }[] = [];

beforeEach(() => {
  place = makePlace();
  contexts = [];
});
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
  place.remove();
});

const answer = buildLoopAnswer({ vetoed_by: 'numbers', model_id: 'm' });

/** What a prompt says is what happens. */
const handlers: EmbeddingHandlers = {
  async checkLoop({ prompt }, context) {
    contexts.push(context);
    if (prompt === 'never') await new Promise(() => {});
    if (prompt === 'queue full') throw new EmbeddingFailure('busy', 'the queue is full');
    if (prompt === 'store away') throw new PromptHistoryFailure('unavailable', 'no store');
    if (prompt === 'bug') throw new TypeError('the prompt was: bug');
    return answer;
  },
  async embed(text, context) {
    contexts.push(context);
    return text === ''
      ? { fitness: 'empty', vector: null, model_id: 'm' }
      : { fitness: 'fit', vector: new Float32Array([0.6, 0.8]), model_id: 'm' };
  },
  describe: () =>
    buildSidecarDescription({
      model_id: 'm',
      tokens_max: 256,
      needsStrictGate: true,
      store_problem: 'Redis is not connected',
      checks_total: 2 ** 40,
      loops_total: 1,
      uptime_s: 1.5,
    }),
};

async function serve(over: Partial<EmbeddingHandlers> = {}): Promise<EmbeddingServer> {
  const server = await serveEmbedding({
    handlers: { ...handlers, ...over },
    socketPath: place.socketPath,
    drainTimeoutMs: 300,
  });
  opened.push(server);
  return server;
}

async function connected(pendingMax?: number): Promise<SidecarClient> {
  const client = new SidecarClient({ socketPath: place.socketPath, pendingMax });
  opened.push(client);
  await expect.poll(() => client.isReady, { timeout: 5_000 }).toBe(true);
  return client;
}

function raw(): RawClient {
  const client = openRawClient(place.socketPath);
  opened.push(client);
  return client;
}

const connectSocket = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(place.socketPath, () => resolve(socket));
    socket.once('error', reject);
  });

describe('the socket', () => {
  it('is open to its owner alone and goes away with the server', async () => {
    const umask = process.umask();
    const server = await serve();
    expect(statSync(place.socketPath).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(umask);
    await server.close();
    expect(existsSync(place.socketPath)).toBe(false);
  });

  it('takes the place of one that a killed process left behind', async () => {
    const code = `require('net').createServer().listen(${JSON.stringify(place.socketPath)}, () => process.kill(process.pid, 'SIGKILL'))`;
    await new Promise((resolve) => spawn(process.execPath, ['-e', code]).once('exit', resolve));
    expect(statSync(place.socketPath).isSocket()).toBe(true);
    await serve();
    expect((await connected()).isReady).toBe(true);
  });

  it('is refused where somebody is serving, whom that does not disturb', async () => {
    await serve();
    const client = await connected();
    await expect(serve()).rejects.toThrow(/another process is serving on .*s\.sock: stop it/);
    expect((await client.checkLoop(query('1', 'x'), patient)).loop_detected).toBe(true);
  });

  it('is refused where a file stands that is no socket, and the file stays', async () => {
    writeFileSync(place.socketPath, 'precious');
    await expect(serve()).rejects.toThrow(/is no socket/);
    expect(statSync(place.socketPath).size).toBe(8);
  });

  it('is refused, with the remedy, in a folder that is not there and under a path that is too long', async () => {
    rmSync(place.folder, { recursive: true });
    await expect(serve()).rejects.toThrow(/does not exist: create it/);
    place.socketPath = `/tmp/${'x'.repeat(120)}`;
    await expect(serve()).rejects.toThrow(/choose a shorter one/);
  });
});

it('serves at a path of as many bytes as a Unix socket may have, and refuses one more', async () => {
  const beyondFolder = SOCKET_PATH_BYTES_MAX - Buffer.byteLength(`${place.folder}/`);
  // Two bytes each.
  place.socketPath = join(place.folder, `${'ü'.repeat(10)}${'x'.repeat(beyondFolder - 20)}`);
  await serve();
  expect((await connected()).isReady).toBe(true);
  place.socketPath += 'x';
  await expect(serve()).rejects.toThrow(`${SOCKET_PATH_BYTES_MAX}: choose a shorter one`);
});

// There nobody may make a file, root included.
it.runIf(process.platform === 'linux')(
  'says what a folder needs in which it may make no socket',
  async () => {
    place.socketPath = '/proc/observatory.sock';
    await expect(serve()).rejects.toThrow(/may make no socket at .* \(EACCES\): give it that folder/);
  },
);

describe('calls', () => {
  it('arrive whole, over the stream as in unary calls', async () => {
    await serve();
    const client = await connected();
    expect(await client.checkLoop(query('1', 'x'), patient)).toEqual(answer);
    const { value } = await raw().call('CheckLoop', { tenant_id: 't', prompt: 'x' });
    expect(value).toMatchObject({ loop_detected: true, vetoed_by: 'numbers', fitness: 'FIT' });
    const { vector } = await client.embed('x', patient);
    expect(vector).toEqual(new Float32Array([0.6, 0.8]));
    expect(await client.embed('', patient)).toEqual({ fitness: 'empty', vector: null, model_id: 'm' });
  });

  it('are described with numbers beyond 32 bits', async () => {
    await serve();
    const client = await connected();
    const { loopWhenSimilarityAbove: _, ...rest } = handlers.describe();
    expect(await client.describe(patient)).toMatchObject(rest);
  });

  it('carry trace and time over the stream and in unary calls', async () => {
    await serve();
    const client = await connected();
    await client.checkLoop(query('1', 'x'), { timeoutMs: 49.5, traceParent: TRACE });
    await client.embed('x', { timeoutMs: 1_000, traceParent: null });
    await raw().call('CheckLoop', { tenant_id: 't', prompt: 'x' }, { traceParent: TRACE, deadlineMs: 700 });
    expect(contexts.slice(0, 2)).toEqual([
      { timeoutMs: 50, traceParent: TRACE },
      { timeoutMs: 1_000, traceParent: null },
    ]);
    expect(contexts[2]?.traceParent).toBe(TRACE);
    expect(contexts[2]?.timeoutMs).toBeGreaterThan(0);
    expect(contexts[2]?.timeoutMs).toBeLessThanOrEqual(700);
  });

  it('whose time is nearly over have a moment, not for ever; more than a timer can wait is as long as it can', async () => {
    await serve();
    const client = await connected();
    const ask = (timeoutMs: number) => client.embed('x', { timeoutMs, traceParent: null }).catch(() => {});
    await ask(0);
    await ask(2 ** 32);
    await expect.poll(() => contexts.map(({ timeoutMs }) => timeoutMs)).toEqual([1, 2 ** 31 - 1]);
  });

  it('that name no time have all of it', async () => {
    await serve();
    const client = raw();
    const untimed = { deadlineMs: Number.POSITIVE_INFINITY };
    await client.call('CheckLoop', { tenant_id: 't', prompt: 'x' }, untimed);
    const stream = client.exchange();
    const answered = new Promise((resolve) => stream.once('data', resolve));
    stream.on('error', () => {});
    stream.write({ id: 1, timeout_ms: 0, embed: { text: 'x' } });
    await answered;
    stream.cancel();
    expect(contexts.map(({ timeoutMs }) => timeoutMs)).toEqual([undefined, undefined]);
  });

  it.each([
    ['queue full', 'busy', status.RESOURCE_EXHAUSTED],
    ['store away', 'unavailable', status.UNAVAILABLE],
    ['bug', 'error', status.INTERNAL],
  ])('that fail say why: %s', async (prompt, reason, code) => {
    await serve();
    const client = await connected();
    await expect(client.checkLoop(query('1', prompt), patient)).rejects.toMatchObject({ reason });
    const unary = await raw().call('CheckLoop', { tenant_id: 't', prompt });
    expect(unary.code).toBe(code);
    expect(unary.details).not.toContain('the prompt was');
    expect(client.isReady).toBe(true);
  });

  it('run out of time on their own, while others are answered', async () => {
    await serve();
    const client = await connected();
    const brief = { timeoutMs: 30, traceParent: null };
    // Expected from the first: it may be over before the other is answered.
    const slow = expect(client.checkLoop(query('1', 'never'), brief)).rejects.toMatchObject({
      reason: 'timeout',
    });
    expect((await client.checkLoop(query('2', 'x'), patient)).model_id).toBe('m');
    await slow;
    const unary = await raw().call('CheckLoop', { tenant_id: 't', prompt: 'never' }, { deadlineMs: 50 });
    expect(unary.code).toBe(status.DEADLINE_EXCEEDED);
  });

  it('beyond what a client may have on its way are busy at once', async () => {
    await serve();
    const client = await connected(2);
    const held = [1, 2].map((id) =>
      client.checkLoop(query(`${id}`, 'never'), { timeoutMs: 100, traceParent: null }).catch((e) => e.reason),
    );
    await expect(client.checkLoop(query('3', 'x'), patient)).rejects.toMatchObject({ reason: 'busy' });
    expect(await Promise.all(held)).toEqual(['timeout', 'timeout']);
    expect((await client.checkLoop(query('4', 'x'), patient)).model_id).toBe('m');
  });

  it('have texts of 16 MB at once, checks and others together; beyond that they are busy', async () => {
    const never = () => new Promise<never>(() => {});
    await serve({ checkLoop: never, embed: never });
    const client = await connected();
    const text = 'x'.repeat(TEXT_BYTES_MAX);
    const ask = [
      (prompt: string) => client.checkLoop(query('1', prompt), patient).catch(({ reason }) => reason),
      (prompt: string) => client.embed(prompt, patient).catch(({ reason }) => reason),
    ] as const;
    const held = Array.from({ length: 16 }, (_, at) => ask[at % 2 === 0 ? 0 : 1](text));
    expect([await ask[0]('x'), await ask[1]('x')]).toEqual(['busy', 'busy']);
    await client.close();
    expect(new Set(await Promise.all(held))).toEqual(new Set(['unavailable']));
  });

  it('come back in any order, 2,000 at once, each with its own answer', async () => {
    await serve({
      async checkLoop({ request_id }) {
        if (Number(request_id) % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        return { ...answer, similar_request_id: request_id };
      },
    });
    const client = await connected(2_000);
    const ids = Array.from({ length: 2_000 }, (_, index) => `${index}`);
    const answers = await Promise.all(ids.map((id) => client.checkLoop(query(id, 'x'), patient)));
    expect(answers.map(({ similar_request_id }) => similar_request_id)).toEqual(ids);
  });
});

describe('what nobody should send', () => {
  it('10 MB of text is refused on every way in, and the next call is answered', async () => {
    await serve();
    const client = await connected();
    const text = 'x'.repeat(10 * 1024 * 1024);
    await expect(client.checkLoop(query('1', text), patient)).rejects.toMatchObject({ reason: 'invalid' });
    await expect(client.embed(text, patient)).rejects.toMatchObject({ reason: 'invalid' });
    const stranger = raw();
    const unary = await stranger.call('CheckLoop', { tenant_id: 't', prompt: text });
    expect(unary.code).toBe(status.RESOURCE_EXHAUSTED);
    const tooLong = 'x'.repeat(TEXT_BYTES_MAX + 1);
    for (const { code } of [
      await stranger.call('Embed', { text: tooLong }),
      await stranger.call('CheckLoop', { tenant_id: 't', prompt: tooLong }),
    ])
      expect(code).toBe(status.INVALID_ARGUMENT);
    const stream = stranger.exchange();
    const ended = new Promise<number>((resolve) => stream.once('error', (error: any) => resolve(error.code)));
    stream.write({ id: 1, embed: { text } });
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
    expect(contexts).toEqual([]);
    expect((await client.embed('x', patient)).fitness).toBe('fit');
    expect((await stranger.call('Embed', { text: 'x' })).code).toBe(0);
  });

  it('garbage on the socket does no harm to others', async () => {
    await serve();
    const client = await connected();
    for (const bytes of [
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      Buffer.alloc(100_000, 0xff),
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff', 'latin1'),
      Buffer.alloc(0),
    ]) {
      const socket = await connectSocket();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => {});
      socket.resume();
      socket.end(bytes);
      await closed;
      expect((await client.checkLoop(query('1', 'x'), patient)).model_id).toBe('m');
    }
  });

  it('a frame without a body is answered as invalid', async () => {
    await serve();
    const stream = raw().exchange();
    const reply = new Promise<any>((resolve) => stream.once('data', resolve));
    stream.on('error', () => {});
    stream.write({ id: 7 });
    expect(await reply).toMatchObject({ id: 7, failure: { code: status.INVALID_ARGUMENT } });
    stream.cancel();
  });
});

describe('health', () => {
  it('speaks for the server and for the service, and knows no other', async () => {
    const server = await serve();
    const ask = (serviceName: string) =>
      probeHealth({ socketPath: place.socketPath, serviceName, timeoutMs: 2_000 });
    expect(await ask('')).toBe('SERVING');
    expect(await ask(EMBEDDING_SERVICE)).toBe('SERVING');
    server.setServing(false);
    expect(await ask(EMBEDDING_SERVICE)).toBe('NOT_SERVING');
    expect(await ask('')).toBe('SERVING');
    await expect(ask('some.other.Service')).rejects.toMatchObject({ code: status.NOT_FOUND });
  });
});

describe('the end', () => {
  it('of the server answers what has begun, and takes no more', async () => {
    const hold = deferred();
    const server = await serve({
      async checkLoop() {
        await hold.promise;
        return answer;
      },
    });
    const client = await connected();
    const begun = client.checkLoop(query('1', 'x'), patient);
    await client.embed('x', patient);
    const closed = server.close();
    await expect(client.checkLoop(query('2', 'x'), patient)).rejects.toMatchObject({ reason: 'unavailable' });
    hold.resolve();
    expect((await begun).model_id).toBe('m');
    await closed;
    await expect.poll(() => client.isReady).toBe(false);
  });

  it('of the server does not wait for ever for what hangs, which is rejected at once', async () => {
    const server = await serve();
    const client = await connected();
    const hangs = client.checkLoop(query('1', 'never'), patient).catch((error) => error.reason);
    await client.embed('x', patient);
    await server.close();
    expect(await hangs).toBe('unavailable');
  });

  it('of the client rejects what is on its way, and all that comes after', async () => {
    await serve();
    const client = await connected();
    const begun = client.checkLoop(query('1', 'never'), patient).catch((error) => error.reason);
    await client.close();
    expect(await begun).toBe('unavailable');
    await expect(client.checkLoop(query('2', 'x'), patient)).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(client.describe(patient)).rejects.toMatchObject({ name: 'SidecarFailure' });
  });
});

describe('a client', () => {
  it('rejects at once while nobody is there, and is ready soon after somebody is', async () => {
    const client = new SidecarClient({ socketPath: place.socketPath });
    opened.push(client);
    await expect(client.checkLoop(query('1', 'x'), patient)).rejects.toMatchObject({ reason: 'unavailable' });
    // Long enough for the pauses between attempts to have grown to their longest.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await serve();
    await expect.poll(() => client.isReady, { timeout: 1_000, interval: 10 }).toBe(true);
    expect((await client.checkLoop(query('1', 'x'), patient)).model_id).toBe('m');
  });

  it('tells of every coming and going, once each', async () => {
    const states: boolean[] = [];
    const first = await serve();
    const client = new SidecarClient({
      socketPath: place.socketPath,
      onState: (isReady) => states.push(isReady),
    });
    opened.push(client);
    await expect.poll(() => states).toEqual([true]);
    await first.close();
    await expect.poll(() => states).toEqual([true, false]);
    await serve();
    await expect.poll(() => states, { timeout: 2_000 }).toEqual([true, false, true]);
  });

  it('is not fooled by a program that accepts and never answers', async () => {
    const sockets: Socket[] = [];
    const mute: Server = createServer((socket) => sockets.push(socket.on('error', () => {})));
    await new Promise<void>((resolve) => mute.listen(place.socketPath, resolve));
    const client = new SidecarClient({ socketPath: place.socketPath });
    opened.push(client);
    await expect.poll(() => sockets.length).toBeGreaterThan(0);
    await expect(client.checkLoop(query('1', 'x'), patient)).rejects.toMatchObject({ reason: 'unavailable' });
    const asked = client.describe({ timeoutMs: 100, traceParent: null });
    await expect(asked).rejects.toMatchObject({ reason: 'timeout' });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => mute.close(resolve));
    await serve();
    await expect.poll(() => client.isReady, { timeout: 2_000 }).toBe(true);
  });

  it('takes no other HTTP/2 server for a sidecar', async () => {
    let requests = 0;
    const other = createHttp2((_, response) => {
      requests += 1;
      response.writeHead(404).end('no');
    });
    await new Promise<void>((resolve) => other.listen(place.socketPath, resolve));
    const states: boolean[] = [];
    const client = new SidecarClient({
      socketPath: place.socketPath,
      onState: (isReady) => states.push(isReady),
    });
    opened.push(client);
    await expect.poll(() => requests, { timeout: 5_000 }).toBeGreaterThanOrEqual(3);
    expect(states).toEqual([]);
    await client.close();
    await new Promise((resolve) => other.close(resolve));
  });

  it('told that somebody is there does not wait for its next attempt', async () => {
    const client = new SidecarClient({ socketPath: place.socketPath });
    opened.push(client);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await serve();
    client.connectNow();
    client.connectNow();
    await expect.poll(() => client.isReady, { timeout: 1_000, interval: 5 }).toBe(true);
    client.connectNow();
    expect((await client.checkLoop(query('1', 'x'), patient)).model_id).toBe('m');
  });

  it('told so while it is ready is back all the same after the next break', async () => {
    const server = await serve();
    const client = await connected();
    client.connectNow();
    await server.close();
    await expect.poll(() => client.isReady).toBe(false);
    await serve();
    await expect.poll(() => client.isReady, { timeout: 5_000 }).toBe(true);
  });

  it('gives up a stream on which nothing comes back, so that calls stop waiting for it', async () => {
    let isFrozen = true;
    await serve({
      async checkLoop() {
        if (isFrozen) await new Promise(() => {});
        return answer;
      },
    });
    const states: boolean[] = [];
    const client = new SidecarClient({
      socketPath: place.socketPath,
      onState: (isReady) => states.push(isReady),
    });
    opened.push(client);
    await expect.poll(() => states).toEqual([true]);
    const brief = { timeoutMs: 50, traceParent: null };
    await expect
      .poll(
        async () => {
          await client.checkLoop(query('1', 'x'), brief).catch(() => {});
          return states.includes(false);
        },
        { timeout: 5_000, interval: 10 },
      )
      .toBe(true);
    isFrozen = false;
    await expect.poll(() => client.isReady, { timeout: 2_000 }).toBe(true);
    expect((await client.checkLoop(query('2', 'x'), patient)).model_id).toBe('m');
  });
});
