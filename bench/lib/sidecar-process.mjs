/** The built sidecar as a child process on a socket of its own, for the benches; never left behind. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const mainFile = fileURLToPath(new URL('../../dist/apps/embedding-sidecar/src/main.js', import.meta.url));
const readyTimeoutMs = 60_000;

/** @typedef {{ socketPath: string, pid: number, stop: () => Promise<void> }} SidecarUnderTest */

/**
 * @param {Record<string, string>} [env] its settings
 * @returns {Promise<SidecarUnderTest>} ready; rejects with its own words when it does not get there
 */
export async function startSidecar(env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'obs-bench-'));
  const socketPath = join(folder, 's.sock');
  const child = spawn(process.execPath, [mainFile, '--exit-with-stdin'], {
    env: { ...process.env, NODE_ENV: 'production', UDS_PATH: socketPath, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.stdin.end();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  let output = '';
  try {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not ready in time:\n${output}`)), readyTimeoutMs);
      child.stdout.setEncoding('utf8').on('data', (text) => {
        if (timer.hasRef()) output += text;
        if (!output.includes('"event":"ready"')) return;
        clearTimeout(timer);
        timer.unref();
        resolve(undefined);
      });
      exited.then((code) => reject(new Error(`the sidecar ended with ${code}:\n${output}`)));
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { socketPath, pid: child.pid ?? 0, stop };
}
