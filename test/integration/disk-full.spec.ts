/** A disk that really is full; the store's own specs fill a bounded database where none can be mounted. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildDecisionLog, respondJson, ScriptedUpstream } from '#testing';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';
import { AGENT_KEY, startGateway } from './start-gateway.js';
import { upstreamsAt } from './start-one-gateway.js';

const DISK_BYTES = 48 * 1024 * 1024;
const ROOM_FOR_STEPS_BYTES = 40 * 1024 * 1024;
/** Less than the gateway keeps free for retention to work in. */
const ROOM_BYTES = 8 * 1024 * 1024;

const disk = mountSmallDisk(DISK_BYTES) as SmallDisk;

test.skipIf(disk === null)(
  'a full disk answers 503 with Retry-After, loses nothing, and recovers by itself',
  async () => {
    disk.fill(ROOM_FOR_STEPS_BYTES);
    const gateway = await startGateway({ dataDir: join(disk.mountPoint, 'data') });
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

    disk.clear();
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

test.skipIf(disk === null)(
  'a gateway killed on a full disk starts again, shows what is stored, and takes more once there is room',
  async () => {
    const dataDir = join(disk.mountPoint, 'killed');
    const before = await startGateway({ dataDir });
    expect((await before.ingest(buildDecisionLog({ meta: { session_id: 'killed' } }))).status).toBe(202);
    await before.kill();
    disk.fill(ROOM_BYTES);

    const gateway = await startGateway({ dataDir });
    expect((await gateway.operator('GET', '/v1/sessions/killed')).body).toMatchObject({ step_count: 1 });
    const next = buildDecisionLog({ meta: { session_id: 'killed' } });
    expect((await gateway.ingest(next)).status).toBe(503);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);

    disk.clear();
    await expect
      .poll(async () => (await gateway.ingest(next)).status, { timeout: 20_000, interval: 250 })
      .toBe(202);
    expect(await gateway.stop()).toBe(0);
  },
);

test.skipIf(disk === null)(
  'an agent that the kill switch stopped on a full disk is still stopped after a restart, where there was room before it',
  async () => {
    const upstream = await new ScriptedUpstream().listen();
    upstream.script((_call, response) =>
      respondJson(response, 200, {
        model: 'm',
        choices: [
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Still looking.' } },
        ],
      }),
    );
    const options = { dataDir: join(disk.mountPoint, 'stopped'), env: upstreamsAt(upstream.origin) };
    const before = await startGateway(options);
    const ask = async (gateway = before) => {
      const answer = await fetch(`${gateway.url}/agents/looper/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, 'x-observatory-session': 'looper' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Where is my order?' }] }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    // To the last byte, and then what was kept for an operator, who used some of it.
    disk.fill(0);
    await before.operator('PATCH', '/v1/agents/other/policy', { requests_per_minute: 7 });
    disk.fill(0);
    for (let request = 1; request <= 6; request += 1) expect(await ask()).toBe(200);
    expect(await ask()).toBe(403);
    await expect.poll(before.output).toContain('"event":"incident_unsaved"');
    disk.clear();
    expect(await before.stop()).toBe(0);

    const gateway = await startGateway(options);
    expect(await ask(gateway)).toBe(403);
    const { body } = await gateway.operator('GET', '/v1/incidents?agent_id=looper');
    expect(body.items).toMatchObject([{ agent_id: 'looper', reactivated_by: null }]);
    // And all that it called, with the steps that were made of it: no agent would send them again.
    const listed = async (path: string) => (await gateway.operator('GET', path)).body.items;
    expect(await listed('/v1/sessions/looper/decision-logs')).toHaveLength(5);
    await expect.poll(() => listed('/v1/calls?agent_id=looper')).toHaveLength(6 + 1 + 1);
    expect(await gateway.stop()).toBe(0);
    await upstream.close();
  },
);
