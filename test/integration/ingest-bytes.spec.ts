/** What is read of DecisionLogs at once has a bound, and one tenant at its bound takes nothing from another. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { writeStalledBody } from './stalled-body.js';
import { type RunningGateway, startGateway } from './start-gateway.js';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
});

const BOMB_BYTES = LIMITS.inflatedBytesMax - 1_000_000;
const BOMB = gzipSync(Buffer.alloc(BOMB_BYTES, ' '));
/** As many as fit into one tenant's half. */
const STALLED_MAX = Math.floor(LIMITS.inflightBytesMax / 2 / BOMB_BYTES);

/** Sends a body that inflates to nearly what one may, and never ends it. */
function stall(key: string): Socket {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  writeStalledBody(socket, key, BOMB);
  return socket;
}

test('bodies that inflate and never end take half of the room, and another tenant is served all the same', async () => {
  const made = await gateway.operator('POST', '/v1/agent-keys', { name: 'other', tenant_id: 'other' });
  const key = made.body.secret as string;
  const sockets = Array.from({ length: STALLED_MAX + 2 }, () => stall(key));
  const refused = Promise.race(sockets.map(async (socket) => String((await once(socket, 'data'))[0])));
  const answer = await refused;
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toMatch(/retry-after: \d/i);
  expect(answer).toContain('too_many_bytes');
  expect((await gateway.ingest(buildDecisionLog())).status).toBe(202);
  // Whoever hangs up gives back what it had.
  for (const socket of sockets) socket.destroy();
  const authorization = `Bearer ${key}`;
  const large = JSON.stringify(buildDecisionLog()) + ' '.repeat(LIMITS.bodyBytesMax - 10_000);
  await expect.poll(async () => (await gateway.ingest(large, { authorization })).status).toBe(202);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/observatory_ingest_refused_total\{reason="too_many_bytes"\} [1-9]/);
});
