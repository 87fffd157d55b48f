/** A log on a disk that fills up and is cleared: its lines go on. Needs the right to mount, as `disk-full.spec.ts` does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFreePort } from '../../scripts/lib/gateway-process.mjs';
import { endWithFile } from './end-with-file.js';
import { AGENT_KEY } from './start-gateway.js';
import { makeFolder, startOnOutput } from './start-on-output.js';

const MAIN = join(import.meta.dirname, '../../dist/apps/gateway/src/main.js');
const DISK_BYTES = 256 * 1024;

const disk = join(makeFolder(), 'disk');
mkdirSync(disk);
const isMounted = (() => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], { stdio: 'ignore' });
    endWithFile(() => execFileSync('umount', ['-l', disk]));
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!isMounted)('the log is written again once its disk has room', { timeout: 60_000 }, async () => {
  const ballast = join(disk, 'ballast');
  expect(() => writeFileSync(ballast, Buffer.alloc(2 * DISK_BYTES))).toThrow('ENOSPC');
  const port = await findFreePort();
  const path = join(disk, 'log');
  const gateway = startOnOutput(MAIN, openSync(path, 'a'), {
    PORT: String(port),
    LOG_LEVEL: 'info',
    OBSERVATORY_DATA_DIR: makeFolder(),
    OBSERVATORY_AGENT_KEY: AGENT_KEY,
    LOOP_DETECTION_ENABLED: '0',
    LLM_CACHE_BACKEND: 'off',
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, { timeout: 30_000 }).toBe(true);
  for (let count = 0; count < 5; count += 1) {
    // Each of these is told in the log.
    const refused = await fetch(`http://127.0.0.1:${port}/v1/decision-logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refused.status).toBe(422);
  }
  expect(readFileSync(path, 'utf8')).toBe('');
  rmSync(ballast);
  gateway.process.kill('SIGTERM');
  expect(await gateway.ended).toEqual([0, null]);
  expect(readFileSync(path, 'utf8')).toContain('"event":"draining"');
});
