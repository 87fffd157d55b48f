/**
 * A sidecar whose Redis comes and goes, again and again: calls go on, each that was not checked is counted with its reason, the sidecar
 * is not taken for one that died, and loops are found again once Redis stays. The query engine is stood in for, the rest is real.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScriptedUpstream } from '#testing';
import { type StandIn, startStandIn } from '../stand-in-query-engine.js';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { upstreamsAt } from '../start-one-gateway.js';
import { redisMissing } from '../start-redis.js';
import { always, openaiChat } from './vendors.js';

const SOON = { timeout: 30_000, interval: 20 };
const FLAP_COUNT = 6;
const LINES_APART_MS = 60_000;

describe.skipIf(redisMissing !== null)('a Redis that comes and goes', () => {
  let standIn: StandIn;
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  beforeAll(async () => {
    standIn = await startStandIn(3);
    upstream = await new ScriptedUpstream().listen();
    upstream.script(always(openaiChat, { text: 'It is on its way.' }));
    gateway = await startGateway({
      env: {
        ...upstreamsAt(upstream.origin),
        LOOP_DETECTION_ENABLED: 'true',
        LOOP_EMBEDDING_SIDECAR_TIMEOUT: '2s',
        LOOP_EMBEDDING_REDIS_URL: standIn.redis.url,
      },
    });
  });
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    await upstream.close();
    await standIn.stop();
  });

  const system = async () => (await gateway.operator('GET', '/v1/system')).body;
  const loopCounts = async (): Promise<{
    checks: Record<string, number>;
    fail_open: Record<string, number>;
  }> => (await system()).semantic_loop;
  const sumOf = (counts: Record<string, number>): number =>
    Object.values(counts).reduce((sum, count) => sum + count, 0);
  const logged = () =>
    gateway
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));

  let serial = 0;
  const ask = async (session: string, text: string): Promise<string | null> => {
    const response = await fetch(`${gateway.url}/agents/asker/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${AGENT_KEY}`,
        'content-type': 'application/json',
        'x-observatory-session': session,
      },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    return response.headers.get('x-observatory-decision');
  };
  const askAnew = () => {
    serial += 1;
    return ask(`session-${serial}`, `Where is the parcel number ${serial} by now?`);
  };
  /** Twice in one session, in other words. */
  const isFound = async () => {
    serial += 1;
    await ask(`again-${serial}`, 'Find the cheapest flight from Zurich to Lisbon');
    return ask(`again-${serial}`, 'Please find the cheapest flight from Zurich to Lisbon.');
  };

  test('costs no call, is counted by reason, and says of itself what is so; loops are found again by themselves', async () => {
    await expect.poll(isFound, SOON).toBe('hinted');
    const before = await loopCounts();
    const askedBefore = upstream.calls.length;
    let isOver = false;
    const lanes = Array.from({ length: 3 }, async () => {
      while (!isOver) await askAnew();
    });
    const passes = async (what: 'clear' | 'failed_open') => {
      const from = (await loopCounts()).checks[what] ?? 0;
      await expect.poll(async () => (await loopCounts()).checks[what] ?? 0, SOON).toBeGreaterThan(from + 3);
      expect((await system()).sidecar).toMatchObject({ state: 'serving', store: 'redis', restart_count: 0 });
    };
    for (let flap = 0; flap < FLAP_COUNT; flap += 1) {
      await standIn.server.kill();
      await passes('failed_open');
      await standIn.server.start();
      await passes('clear');
    }
    isOver = true;
    await Promise.all(lanes);

    const { checks, fail_open } = await loopCounts();
    const added = (counts: Record<string, number>, was: Record<string, number>) => sumOf(counts) - sumOf(was);
    expect(added(checks, before.checks)).toBe(upstream.calls.length - askedBefore);
    expect(added(fail_open, before.fail_open)).toBe(
      (checks.failed_open ?? 0) - (before.checks.failed_open ?? 0),
    );
    for (const reason of Object.keys(fail_open)) expect(['unavailable', 'timeout']).toContain(reason);

    await expect.poll(isFound, SOON).toBe('hinted');
    await expect.poll(async () => (await system()).sidecar.store_problem, SOON).toBeNull();
    const events = logged();
    const told = events.map(({ event }) => event).filter((event) => /^store_(lost|back)$/.test(event));
    // Of each change once, and of nothing else.
    expect(told.length).toBeGreaterThan(0);
    expect(told).toEqual(told.map((_, at) => (at % 2 === 0 ? 'store_lost' : 'store_back')));
    expect(told.at(-1)).toBe('store_back');
    const failures = events.filter(({ event }) =>
      /^(fail_open|check_failed|record_failed|store_failed)$/.test(event),
    );
    for (const { event, reason } of failures) {
      const times = failures
        .filter((one) => one.event === event && one.reason === reason)
        .map(({ time }) => Date.parse(time));
      for (const [at, time] of times.slice(1).entries())
        expect(time - (times[at] as number)).toBeGreaterThan(LINES_APART_MS - 1_000);
    }
  });
});
