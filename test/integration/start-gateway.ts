/**
 * A real gateway in a process of its own: built code, a free port, its own data folder. Nothing is mocked.
 * Its folder stays until the end of the file, so that a test can start a second gateway on what the first left.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { endWithFile } from './end-with-file.js';

const MAIN = resolve(import.meta.dirname, '../../dist/apps/gateway/src/main.js');
/** Of a machine that has far more to do than it can; hooks wait longer. */
const START_TIMEOUT_MS = 90_000;

export const AGENT_KEY = 'integration-agent-key-0123456789';
export const OPERATOR_TOKEN = 'integration-operator-token-0123456789';

/** A response whose JSON a test reads as it likes. */
export type JsonResponse = Omit<Response, 'json'> & { json(): Promise<any> };

export interface RunningGateway {
  url: string;
  agentKey: string;
  operatorToken: string;
  dataDir: string;
  process: ChildProcess;
  /** Everything it wrote to stdout and stderr so far. */
  output(): string;
  /** POST /v1/decision-logs; text and buffers go as they are. */
  ingest(body: unknown, headers?: Record<string, string>): Promise<JsonResponse>;
  /** As operator `tester`, with JSON in and out. */
  operator(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL: no goodbye. */
  kill(): Promise<void>;
}

export interface StartOptions {
  dataDir?: string;
  env?: Record<string, string>;
}

export async function startGateway(options: StartOptions = {}): Promise<RunningGateway> {
  const dataDir = options.dataDir ?? makeDataDir();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      LOG_LEVEL: 'info',
      OBSERVATORY_DATA_DIR: dataDir,
      OBSERVATORY_AGENT_KEY: AGENT_KEY,
      OBSERVATORY_OPERATOR_TOKEN: OPERATOR_TOKEN,
      // A sidecar for each of many gateways would only slow them down; tests of semantic loops ask for one.
      LOOP_DETECTION_ENABLED: 'false',
      // Most tests ask the same twice and count what the upstream saw; tests of the cache switch it on.
      LLM_CACHE_BACKEND: 'off',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const exited = new Promise<number | null>((settle) => child.once('exit', (code) => settle(code)));
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  endWithFile(kill);
  const url = await listening(child, () => output);
  const authorization = `Bearer ${AGENT_KEY}`;
  return {
    url,
    agentKey: AGENT_KEY,
    operatorToken: OPERATOR_TOKEN,
    dataDir,
    process: child,
    output: () => output,
    ingest: (body, headers = {}) => {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      return fetch(`${url}/v1/decision-logs`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body: isRaw ? body : JSON.stringify(body),
      });
    },
    operator: operatorAt(url, OPERATOR_TOKEN, 'tester'),
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill,
  };
}

/** How a person asks a gateway: with that credential, under that name, of that tenant where it is not the token's first. */
export function operatorAt(
  url: string,
  token: string,
  name: string,
  tenant?: string,
): RunningGateway['operator'] {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-observatory-operator-id': name,
        ...(tenant !== undefined && { 'x-tenant-id': tenant }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  };
}

/** Removed at the end of the file. */
export function makeDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'observatory-test-'));
  endWithFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Resolves with the URL the banner prints. */
function listening(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((settle, fail) => {
    const timer = setTimeout(
      () => fail(new Error(`gateway did not start in time:\n${output()}`)),
      START_TIMEOUT_MS,
    );
    const look = () => {
      const url = /Observatory {2}(http:\/\/\S+)/.exec(output())?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      settle(url.replace('localhost', '127.0.0.1'));
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(new Error(`gateway exited with ${code}:\n${output()}`));
    });
  });
}
