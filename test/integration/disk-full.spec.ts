/**
 * A disk that really is full: a small tmpfs with a file in it to give way. Needs the right to mount (root, as in CI);
 * the store's own specs fill a bounded database everywhere else.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { startGateway } from './start-gateway.js';

const DISK_BYTES = 48 * 1024 * 1024;
const BALLAST_BYTES = 8 * 1024 * 1024;
/** Less than the gateway keeps free for retention to work in. */
const ROOM_BYTES = 8 * 1024 * 1024;

const mountPoint = mkdtempSync(join(tmpdir(), 'observatory-disk-'));
const isMounted = (() => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', mountPoint], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();
if (!isMounted && process.env.CI === 'true')
  throw new Error('CI must be able to mount a tmpfs for this test');
if (!isMounted) process.stdout.write('skipped: a full disk (mounting a tmpfs needs root)\n');

afterAll(() => {
  if (isMounted) execFileSync('umount', ['-l', mountPoint]);
  rmSync(mountPoint, { recursive: true, force: true });
});

test.skipIf(!isMounted)(
  'a full disk answers 503 with Retry-After, loses nothing, and recovers by itself',
  async () => {
    const ballast = join(mountPoint, 'ballast');
    writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES));
    const gateway = await startGateway({ dataDir: join(mountPoint, 'data') });
    const filler = 'x'.repeat(20_000);
    const accepted: string[] = [];
    let serial = 0;
    const post = async () => {
      serial += 1;
      const trace_id = `disk-${serial}`;
      const log = buildDecisionLog({
        meta: { trace_id, session_id: 'disk' },
        cognition: { intent: `step ${serial}` },
        action: { tool_output_summary: filler },
      });
      const response = await gateway.ingest(log);
      if (response.status === 202) accepted.push(trace_id);
      return { response, log };
    };

    let refused = await post();
    for (let count = 0; refused.response.status === 202 && count < 2_000; count += 1) refused = await post();
    expect(refused.response.status).toBe(503);
    expect(Number(refused.response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.response.json()).toMatchObject({ reason: 'store_full' });
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);

    rmSync(ballast);
    await expect
      .poll(async () => (await gateway.ingest(refused.log)).status, { timeout: 20_000, interval: 250 })
      .toBe(202);
    accepted.push(refused.log.meta.trace_id);
    expect((await post()).response.status).toBe(202);

    const stored: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await gateway.operator('GET', `/v1/sessions/disk/decision-logs?limit=100${cursor}`);
      stored.push(...body.items.map((item: any) => item.meta.trace_id));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
    expect(stored).toEqual(accepted);
    const scores = (await gateway.operator('GET', '/v1/sessions/disk')).body;
    expect(scores).toMatchObject({ step_count: accepted.length, severity: 'normal', entropy_score: 1 });
    expect(await gateway.stop()).toBe(0);
  },
);

test.skipIf(!isMounted)(
  'a gateway killed on a full disk starts again, shows what is stored, and takes more once there is room',
  async () => {
    const dataDir = join(mountPoint, 'killed');
    const before = await startGateway({ dataDir });
    expect((await before.ingest(buildDecisionLog({ meta: { session_id: 'killed' } }))).status).toBe(202);
    await before.kill();
    const ballast = join(mountPoint, 'ballast');
    const { bavail, bsize } = statfsSync(mountPoint);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - ROOM_BYTES));

    const gateway = await startGateway({ dataDir });
    expect((await gateway.operator('GET', '/v1/sessions/killed')).body).toMatchObject({ step_count: 1 });
    const next = buildDecisionLog({ meta: { session_id: 'killed' } });
    expect((await gateway.ingest(next)).status).toBe(503);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);

    rmSync(ballast);
    await expect
      .poll(async () => (await gateway.ingest(next)).status, { timeout: 20_000, interval: 250 })
      .toBe(202);
    expect(await gateway.stop()).toBe(0);
  },
);
