/** A log that can no longer be written: its disk is full, its reader stands still or has left. Nothing but lines is lost. */
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { SidecarClient } from '#adapters/grpc';
import { findFreePort } from '../../scripts/lib/gateway-process.mjs';
import { endWithFile } from './end-with-file.js';
import { makePlace, patient, query } from './sidecar/sidecar-place.js';
import { SIDECAR_MAIN } from './sidecar/start-sidecar.js';
import { AGENT_KEY, startGateway } from './start-gateway.js';
import { makeFolder, openStalledPipe, startOnOutput } from './start-on-output.js';

const MAIN = join(import.meta.dirname, '../../dist/apps/gateway/src/main.js');
const DEMO = join(import.meta.dirname, '../../scripts/demo.mjs');
/** Of Linux: every write to it fails as on a disk without room. */
const FULL = '/dev/full';

const PLACES: [string, () => number][] = [
  ...(existsSync(FULL) ? [['a full disk', () => openSync(FULL, 'w')] as [string, () => number]] : []),
  ['a reader that stands still', openStalledPipe],
];

describe.each(PLACES)('%s under its log', (_kind, open) => {
  it('neither ends nor stops the gateway, and keeps it from no end', async () => {
    const port = await findFreePort();
    const gateway = startOnOutput(MAIN, open(), {
      PORT: String(port),
      LOG_LEVEL: 'info',
      OBSERVATORY_DATA_DIR: makeFolder(),
      OBSERVATORY_AGENT_KEY: AGENT_KEY,
      LOOP_DETECTION_ENABLED: '0',
      LLM_CACHE_BACKEND: 'off',
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
    gateway.process.kill('SIGTERM');
    expect(await gateway.ended).toEqual([0, null]);
  });

  it('neither ends nor stops the sidecar, and keeps it from no end', async () => {
    const place = makePlace();
    endWithFile(place.remove);
    const sidecar = startOnOutput(SIDECAR_MAIN, open(), { UDS_PATH: place.socketPath, LOG_LEVEL: 'debug' });
    const client = new SidecarClient({ socketPath: place.socketPath });
    endWithFile(() => client.close());
    await expect.poll(() => client.isReady, { timeout: 20_000 }).toBe(true);
    for (let count = 0; count < 5; count += 1) {
      const { fitness } = await client.checkLoop(query(`r-${count}`, 'Count the open invoices.'), patient);
      expect(fitness).toBe('fit');
    }
    sidecar.process.kill('SIGHUP');
    expect(await sidecar.ended).toEqual([0, null]);
  });
});

test('the demo goes on when its reader has left, and ends with its terminal', {
  timeout: 60_000,
}, async () => {
  const gateway = await startGateway();
  const options = ['--url', gateway.url, '--key', gateway.agentKey, '--rate', '20'];
  const demo = startOnOutput(DEMO, 'pipe', {}, options);
  const stepCount = async (): Promise<number> => {
    const { body } = await gateway.operator('GET', '/v1/sessions?limit=100');
    return body.items.reduce((sum: number, { step_count }: { step_count: number }) => sum + step_count, 0);
  };
  await expect.poll(stepCount, { timeout: 20_000 }).toBeGreaterThan(0);
  demo.process.stdout?.destroy();
  const before = await stepCount();
  await expect.poll(stepCount, { timeout: 30_000 }).toBeGreaterThan(before + 50);
  demo.process.kill('SIGHUP');
  expect(await demo.ended).toEqual([0, null]);
});
