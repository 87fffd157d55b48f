/** An agent key that sends more than it may, against a real gateway: told to wait over HTTP and over its socket alike. */
import { io } from 'socket.io-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { AGENT_KEY, type RunningGateway, startGateway } from './start-gateway.js';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { INGEST_LOGS_PER_SECOND_MAX: '10' } });
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
});

const logs = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => buildDecisionLog({ meta: { trace_id: `${name}-${index}` } }));

test('an agent key that sends more than it may is answered 429 with Retry-After, and others are not', async () => {
  const { body } = await gateway.operator('POST', '/v1/agent-keys', { name: 'calm' });
  // Far more than a second's worth, so that no pause of this machine lets the next one through.
  expect((await gateway.ingest(logs(1_000, 'wild'))).status).toBe(202);
  const refused = await gateway.ingest(logs(1, 'late')[0]);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(10);
  expect(await refused.json()).toMatchObject({ status: 'error', reason: 'rate_limited' });

  const socket = io(`${gateway.url}/agents`, { auth: { key: AGENT_KEY }, transports: ['websocket'] });
  const answer = await socket.emitWithAck('decision_log', logs(1, 'by-socket')[0]);
  socket.disconnect();
  expect(answer).toMatchObject({ status: 'error', reason: 'rate_limited' });

  const calm = { authorization: `Bearer ${body.secret}` };
  expect((await gateway.ingest(logs(1, 'calm')[0], calm)).status).toBe(202);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/observatory_ingest_refused_total\{reason="rate_limited"\} 2$/m);
});
