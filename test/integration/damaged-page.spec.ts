/** A disk that gives back something else than was written, under a gateway that runs. */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { type RunningGateway, startGateway } from './start-gateway.js';

const PAGE_BYTES = 4_096;

const stepsOf = (session_id: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    buildDecisionLog({
      meta: { trace_id: `${session_id}-${index}`, session_id },
      cognition: { intent: `step ${index}` },
      action: { tool_output_summary: 'x'.repeat(4_000) },
    }),
  );

/** The middle fifth of the file. */
function damage(path: string): void {
  const file = openSync(path, 'r+');
  const pageCount = fstatSync(file).size / PAGE_BYTES;
  const pages = Buffer.alloc(Math.floor(pageCount / 5) * PAGE_BYTES, 0xa5);
  writeSync(file, pages, 0, pages.length, Math.floor(pageCount * 0.4) * PAGE_BYTES);
  closeSync(file);
}

const read = (gateway: RunningGateway, session_id: string) =>
  gateway.operator('GET', `/v1/sessions/${session_id}/decision-logs?limit=100`);

const DAMAGED = {
  status: 'error',
  reason: 'store_damaged',
  detail: expect.stringContaining('is damaged'),
  correlation_id: expect.any(String),
};

test('what lies on damaged pages is refused as such and said in the log; the rest goes on', async () => {
  const { dataDir, ...before } = await startGateway();
  for (const name of ['first', 'second', 'third', 'fourth', 'fifth'])
    expect((await before.ingest(stepsOf(name, 100))).status).toBe(202);
  await before.stop();
  const gateway = await startGateway({ dataDir });
  damage(join(dataDir, 'observatory.db'));

  const third = await read(gateway, 'third');
  expect(third).toEqual({ status: 500, body: DAMAGED });
  await expect.poll(gateway.output).toContain(`"correlation_id":"${third.body.correlation_id}"`);
  expect(gateway.output()).toMatch(
    /"level":"error".*observatory\.db cannot be read: it is damaged .*; move it away .* restore a backup/,
  );
  expect(JSON.stringify(third.body)).not.toContain(dataDir);
  for (const name of ['first', 'fifth']) expect((await read(gateway, name)).status).toBe(200);

  // Each is stored whole, or refused whole.
  for (const name of ['later', 'latest']) {
    const answer = await gateway.ingest(stepsOf(name, 20));
    if (answer.status !== 202) expect(await answer.json()).toEqual(DAMAGED);
    const { status, body } = await read(gateway, name);
    expect(status === 200 ? body.items.length : 0).toBe(answer.status === 202 ? 20 : 0);
  }
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  expect(gateway.process.exitCode).toBeNull();
  expect(await gateway.stop()).toBe(0);
}, 60_000);
