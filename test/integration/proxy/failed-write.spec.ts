/** A write to a client that throws where nobody stands above it: a mistake of ours that nobody foresaw. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { AGENT_KEY, startGateway } from '../start-gateway.js';

/** Named by the caller, and so a part of the answer. */
const BROKEN = 'breaks-its-write';
/** Runs ahead of the gateway, and breaks what writes such an answer. */
const PRELOADED = `
  import { ServerResponse } from 'node:http';
  const { end } = ServerResponse.prototype;
  ServerResponse.prototype.end = function (body, ...rest) {
    if (String(body).includes('${BROKEN}')) throw new Error('nobody foresaw this');
    return end.call(this, body, ...rest);
  };`;

test('ends the gateway with its reason, and the next one has what was acknowledged', async () => {
  const gateway = await startGateway({
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRELOADED)}` },
  });
  const exited = once(gateway.process, 'exit');
  const call = (upstream: string) =>
    fetch(`${gateway.url}/proxy/${upstream}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: '{"model":"m","messages":[]}',
    });
  const log = buildDecisionLog({ meta: { session_id: 'before-it-broke' } } as never);
  expect((await gateway.ingest(log)).status).toBe(202);
  expect((await call('unknown')).status).toBe(404);

  await expect(call(BROKEN)).rejects.toThrow();
  const [code] = await exited;
  expect(code).toBeGreaterThan(0);
  expect(gateway.output()).toContain('nobody foresaw this');

  const next = await startGateway({ dataDir: gateway.dataDir });
  const { status, body } = await next.operator('GET', '/v1/sessions/before-it-broke');
  expect([status, body.session_id]).toEqual([200, 'before-it-broke']);
}, 120_000);
