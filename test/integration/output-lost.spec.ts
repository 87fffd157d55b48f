/** A log that can no longer be written: its disk is full. Nothing but lines is lost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFreePort } from '../../scripts/lib/gateway-process.mjs';
import { endWithFile } from './end-with-file.js';
import { AGENT_KEY } from './start-gateway.js';

const MAIN = join(import.meta.dirname, '../../dist/apps/gateway/src/main.js');
/** Of Linux: every write to it fails as on a disk without room. */
const FULL = '/dev/full';

test.skipIf(!existsSync(FULL))('a full disk under its log neither ends nor stops it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'observatory-output-'));
  const port = await findFreePort();
  const full = openSync(FULL, 'w');
  const gateway = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      LOG_LEVEL: 'info',
      OBSERVATORY_DATA_DIR: dataDir,
      OBSERVATORY_AGENT_KEY: AGENT_KEY,
      LOOP_DETECTION_ENABLED: '0',
      LLM_CACHE_BACKEND: 'off',
    },
    stdio: ['ignore', full, 'ignore'],
  });
  closeSync(full);
  const ended = once(gateway, 'exit');
  endWithFile(async () => {
    gateway.kill('SIGKILL');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, { timeout: 20_000 }).toBe(true);
  for (let count = 0; count < 5; count += 1) {
    // Each of these is told in the log.
    const refused = await fetch(`${url}/v1/decision-logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refused.status).toBe(422);
  }
  gateway.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
