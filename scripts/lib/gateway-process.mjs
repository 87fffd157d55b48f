/**
 * A gateway as a child process with a data folder of its own, for the demo and the benches: started on a free port,
 * waited for until it is ready, told to drain at the end, and never left behind.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const mainFile = fileURLToPath(new URL('../../dist/apps/gateway/src/main.js', import.meta.url));
const repository = fileURLToPath(new URL('../..', import.meta.url));
/** As `npm start` runs it: a batch's objects die young, and each scavenge copies those that have not yet. */
const nodeFlags = ['--max-semi-space-size=64'];
/** Also on a machine that is busy with something else. */
const readyTimeoutMs = 90_000;
const stopTimeoutMs = 15_000;
const outputBytesMax = 64 * 1024;

/**
 * @typedef {{
 *   url: string, port: number, pid: number, agentKey: string, operatorToken: string, dataDir: string,
 *   output: () => string, exited: Promise<number | null>, stop: () => Promise<void>,
 * }} GatewayProcess
 */

/**
 * @param {number} [wanted] 0: any
 * @returns {Promise<number>} a port of 127.0.0.1 that was free a moment ago; rejects with EADDRINUSE where the wanted one is taken
 */
export function findFreePort(wanted = 0) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      const port = address && typeof address === 'object' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** @param {string} prefix @returns {string} long enough for any listener */
const makeSecret = (prefix) => `${prefix}_${randomBytes(24).toString('base64url')}`;

/**
 * @param {{ port?: number, dataDir?: string, agentKey?: string, operatorToken?: string, nodeArgs?: string[],
 *   env?: Record<string, string> }} [options] without `dataDir` a temporary folder, removed by `stop`
 * @returns {Promise<GatewayProcess>} ready; rejects with the gateway's own words when it does not get there
 */
export async function startGateway(options = {}) {
  // What listens there already would answer in the child's place, and be taken for it.
  const port = await findFreePort(options.port);
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'observatory-'));
  const agentKey = options.agentKey ?? makeSecret('oak');
  const operatorToken = options.operatorToken ?? makeSecret('oot');
  const child = spawn(process.execPath, [...nodeFlags, ...(options.nodeArgs ?? []), mainFile], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      PORT: String(port),
      HOST: '127.0.0.1',
      OBSERVATORY_DATA_DIR: dataDir,
      OBSERVATORY_AGENT_KEY: agentKey,
      OBSERVATORY_OPERATOR_TOKEN: operatorToken,
      ...options.env,
    },
  });
  const output = collectOutput([child.stdout, child.stderr]);
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code));
  });
  const removeData = () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  const killAtExit = () => {
    child.kill('SIGKILL');
    removeData();
  };
  process.once('exit', killAtExit);

  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await exited;
      clearTimeout(timer);
    }
    process.removeListener('exit', killAtExit);
    removeData();
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitUntilReady(url, exited);
  } catch (error) {
    await stop();
    throw new Error(`${error instanceof Error ? error.message : error}\n${output().trim()}`);
  }
  return { url, port, pid: child.pid ?? 0, agentKey, operatorToken, dataDir, output, exited, stop };
}

/**
 * Reads the streams, so that the child never blocks on them, and keeps their end.
 *
 * @param {import('node:stream').Readable[]} streams
 * @returns {() => string}
 */
function collectOutput(streams) {
  let text = '';
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      text = (text + chunk).slice(-outputBytesMax);
    });
  }
  return () => text;
}

/** @param {string} url @param {Promise<number | null>} exited */
async function waitUntilReady(url, exited) {
  let gone = false;
  exited.then(() => {
    gone = true;
  });
  const deadline = performance.now() + readyTimeoutMs;
  while (performance.now() < deadline) {
    if (gone) throw new Error(`the gateway ended before it was ready (exit status ${await exited})`);
    try {
      const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(1_000) });
      await response.text();
      if (response.ok) return;
    } catch {
      // Not listening yet.
    }
    await sleep(50);
  }
  throw new Error(`the gateway was not ready within ${readyTimeoutMs / 1000} s`);
}
