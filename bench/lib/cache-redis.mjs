/** Hits in a real Redis: how long they take, and how many round trips they are. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectRedis, RedisLlmCache } from '#adapters/redis';
import { systemClock } from '#kernel';
import { buildEntry, hex } from './cache-memory.mjs';
import { makeVectors } from './cache-vectors.mjs';
import { median } from './statistics.mjs';

/** @import { Cosine } from '#contracts' */

/** Each way, through the relay: far above what anything else takes. */
const delayMs = 5;

export const hasRedis = () => spawnSync('redis-server', ['--version']).error === undefined;

/** @param {string} path of a socket */
const answers = (path) =>
  new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

async function startRedis() {
  const folder = mkdtempSync(join(tmpdir(), 'observatory-bench-redis-'));
  const path = join(folder, 'redis.sock');
  const settings = ['--port', '0', '--unixsocket', path, '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', settings, { stdio: 'ignore' });
  const stop = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', stop);
  for (let attempt = 0; !(await answers(path)); attempt += 1) {
    if (attempt > 250) throw new Error('redis-server did not start');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { folder, path, stop };
}

/** Hands bytes on, late. @param {string} target @param {string} path */
async function startRelay(target, path) {
  const server = createServer((near) => {
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      from?.on('data', (bytes) => setTimeout(() => to?.write(bytes), delayMs));
      from?.on('close', () => to?.destroy());
      from?.on('error', () => to?.destroy());
    }
  });
  await new Promise((resolve) => server.listen(path, () => resolve(null)));
  return server;
}

/** @param {number} count @param {(round: number) => Promise<unknown>} work @returns {Promise<number[]>} ms */
async function timed(count, work) {
  const ms = [];
  for (let round = 0; round < count; round += 1) {
    const startMs = performance.now();
    const hit = await work(round);
    ms.push(performance.now() - startMs);
    if (hit === null) throw new Error('a miss among what should be hits');
  }
  return ms;
}

/** @param {{ rounds: number, entries: number, perScope: number, dimension: number }} of */
export async function measureRedis({ rounds, entries, perScope, dimension }) {
  const redis = await startRedis();
  const relay = await startRelay(redis.path, join(redis.folder, 'relay.sock'));
  const vectors = makeVectors(entries, dimension, 0);
  const scopeOf = (/** @type {number} */ index) => hex(`scope ${Math.floor(index / perScope)}`);
  const open = (/** @type {string} */ path) => {
    const connection = connectRedis(path, { onError: (failure) => console.error(failure.message) });
    const bounds = { entriesMax: 2 * entries, bytesMax: 1024 ** 3 };
    const ttl = { exactTtlMs: 3_600_000, semanticTtlMs: 86_400_000 };
    return {
      connection,
      cache: new RedisLlmCache({ connection, clock: systemClock, ...bounds, ...ttl, waitMs: 2_000 }),
    };
  };
  const [direct, late] = [open(redis.path), open(join(redis.folder, 'relay.sock'))];
  for (let index = 0; index < entries; index += 1) {
    const vector = { model_id: 'bench', values: vectors.row(index) };
    const entry = buildEntry(index, { scope: scopeOf(index), answerChars: 2_000, vector });
    if (!(await direct.cache.put(entry))) throw new Error('not stored');
  }
  const exact = (/** @type {RedisLlmCache} */ cache) => (/** @type {number} */ round) =>
    cache.get('bench', hex(`key ${round % entries}`));
  const semantic = (/** @type {RedisLlmCache} */ cache) => (/** @type {number} */ round) =>
    cache.semanticSearch({
      tenant_id: 'bench',
      scope: scopeOf(round % entries),
      vector: { model_id: 'bench', values: vectors.row(round % entries) },
      hitWhenCosineAtLeast: /** @type {Cosine} */ (0.92),
      serves: true,
      accept: () => true,
    });
  const [client, lateClient] = [direct.connection.client, late.connection.client];
  await late.connection.open();
  // Scripts are sent with their text the first time.
  await timed(20, exact(direct.cache));
  await timed(20, semantic(direct.cache));
  const lateRounds = Math.min(rounds, 40);
  const pingLateMs = median(await timed(lateRounds, () => lateClient.ping()));
  await timed(2, exact(late.cache));
  await timed(2, semantic(late.cache));
  const result = {
    pingMs: await timed(rounds, () => client.ping()),
    exactMs: await timed(rounds, exact(direct.cache)),
    semanticMs: await timed(rounds, semantic(direct.cache)),
    exactTrips: median(await timed(lateRounds, exact(late.cache))) / pingLateMs,
    semanticTrips: median(await timed(lateRounds, semantic(late.cache))) / pingLateMs,
  };
  await direct.cache.close();
  await late.cache.close();
  relay.close();
  redis.stop();
  return result;
}
