/**
 * A real Redis in a process of its own, without persistence, on a Unix socket in a folder of its own. A place to start
 * one on again after it was killed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithFile } from './end-with-file.js';

const START_TIMEOUT_MS = 10_000;
const ASK_AGAIN_MS = 20;

/** Null when there is one; else what to tell who runs the tests. */
export const redisMissing: string | null =
  spawnSync('redis-server', ['--version']).error === undefined
    ? null
    : 'redis-server is not installed (Debian: apt-get install redis-server)';

if (redisMissing !== null) {
  if (process.env.CI === 'true') throw new Error(`${redisMissing}; in CI its tests must run.`);
  console.warn(`${redisMissing}; the tests that need it are skipped.`);
}

export interface RedisServer {
  /** To connect to, as connectRedis takes it. */
  socketPath: string;
  /** After `kill`, on the same socket. */
  start(): Promise<void>;
  /** SIGKILL: connections break. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay, and nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** For good. */
  stop(): Promise<void>;
}

export async function startRedis(settings: string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'observatory-redis-'));
  const socketPath = join(folder, 'redis.sock');
  let child: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    child = spawn(
      'redis-server',
      [
        '--port',
        '0',
        '--unixsocket',
        socketPath,
        '--dir',
        folder,
        '--save',
        '',
        '--appendonly',
        'no',
        ...settings,
      ],
      { stdio: 'ignore' },
    );
    await answering(socketPath);
  };
  const kill = async (): Promise<void> => {
    const running = child;
    child = null;
    if (running === null || running.exitCode !== null) return;
    const exited = new Promise((settle) => running.once('exit', settle));
    running.kill('SIGKILL');
    await exited;
    rmSync(socketPath, { force: true });
  };
  const stop = async (): Promise<void> => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  endWithFile(stop);
  await start();
  return {
    socketPath,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    stop,
  };
}

async function answering(socketPath: string): Promise<void> {
  const giveUpMs = Date.now() + START_TIMEOUT_MS;
  while (!(await canConnect(socketPath))) {
    if (Date.now() > giveUpMs) throw new Error('redis-server did not start');
    await new Promise((settle) => setTimeout(settle, ASK_AGAIN_MS));
  }
}

const canConnect = (socketPath: string): Promise<boolean> =>
  new Promise((settle) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
