/** Two gateways on one Redis: what one has paid for, the other need not; and a Redis that goes is a miss, not an error. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRedis } from '#adapters/redis';
import { ScriptedUpstream } from '#testing';
import { freePort } from '../free-ports.js';
import { type RunningGateway, startGateway } from '../start-gateway.js';
import { upstreamsAt } from '../start-one-gateway.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';
import { type AskOptions, always, VENDORS, type Vendor } from './vendors.js';

const SOON = { timeout: 15_000, interval: 50 };

describe.skipIf(redisMissing !== null)('two gateways on one Redis', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let gateways: [RunningGateway, RunningGateway];
  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port), '--bind', '127.0.0.1']);
    upstream = await new ScriptedUpstream().listen();
    const start = () =>
      startGateway({
        env: {
          ...upstreamsAt(upstream.origin, 'sk-test-upstream'),
          REDIS_URL: `redis://127.0.0.1:${port}`,
          LLM_CACHE_BACKEND: 'auto',
          LLM_CACHE_SEMANTIC: 'off',
        },
      });
    gateways = [await start(), await start()];
    for (const gateway of gateways) await isBack(gateway);
  });
  afterAll(async () => {
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0);
    await upstream.close();
    await redis.stop();
  });

  const stats = async (gateway: RunningGateway) => (await gateway.operator('GET', '/v1/cache/stats')).body;
  /** It is connected, and has found so. */
  async function isBack(gateway: RunningGateway): Promise<void> {
    const untilMs = performance.now() + SOON.timeout;
    for (;;) {
      const { backend, is_degraded } = await stats(gateway);
      if (backend === 'redis' && !is_degraded) return;
      if (performance.now() > untilMs) throw new Error(gateway.output());
      await new Promise((resolve) => setTimeout(resolve, SOON.interval));
    }
  }
  let serial = 0;
  const inSession = (cache?: 'only' | 'refresh'): AskOptions => ({
    headers: {
      'x-observatory-session': `shared-${++serial}`,
      ...(cache !== undefined && { 'x-observatory-cache': cache }),
    },
  });
  /**
   * What a call that asks the cache only is answered. Redis has 20 ms: on a busy machine it may take a second try, and this
   * way none of them asks the upstream.
   */
  const kept = (ask: () => Promise<{ text: string }>): Promise<string> =>
    ask().then(
      ({ text }) => text,
      () => 'not there',
    );

  test.each(VENDORS)('share answers: $name', async (vendor) => {
    const [one, other] = gateways;
    upstream.script(always(vendor, { text: 'Shared — 北京 🙂.' }));
    const question = `What do you share, ${vendor.name}?`;
    const before = (await stats(one)).total_entries;
    // Kept behind the answer, where Redis was in time: on a busy machine it may take a second call.
    const keptBy = async () => {
      await vendor.ask(one.url, question, inSession());
      return (await stats(one)).total_entries;
    };
    await expect.poll(keptBy, SOON).toBe(before + 1);
    const paidFor = upstream.calls.length;
    const fromOther = () => kept(() => vendor.askStreaming(other.url, question, inSession('only')));
    await expect.poll(fromOther, SOON).toBe('Shared — 北京 🙂.');
    expect(upstream.calls).toHaveLength(paidFor);
  });

  const [vendor] = VENDORS as [Vendor];
  /** Asked of the first gateway, and not answered before `ended` is called; what is asked after it is answered at once. */
  async function underWay(question: string): Promise<{ ended: () => Promise<void> }> {
    const [one] = gateways;
    let end = () => {};
    upstream.script((call, response, index) => {
      const text = index === 0 ? 'asked for before' : 'asked for after';
      const answer = () => always(vendor, { text })(call, response, index);
      if (index === 0) end = answer;
      else answer();
    });
    const first = vendor.ask(one.url, question, inSession());
    await expect.poll(() => upstream.calls.length, SOON).toBe(1);
    const outdated = (await stats(one)).not_stored.outdated ?? 0;
    const ended = async () => {
      end();
      expect((await first).text).toBe('asked for before');
      await expect.poll(async () => (await stats(one)).not_stored.outdated, SOON).toBe(outdated + 1);
    };
    return { ended };
  }

  test('do not keep an answer that was under way when they threw answers out themselves', async () => {
    const question = 'What is invalidated under way?';
    const [one] = gateways;
    const { ended } = await underWay(question);
    expect((await one.operator('POST', '/v1/cache/invalidate', {})).status).toBe(200);
    await ended();
    expect((await vendor.ask(one.url, question, inSession())).text).toBe('asked for after');
    expect(upstream.calls).toHaveLength(2);
  });

  test('do not keep an answer that was under way when a younger call left one', async () => {
    const question = 'What is refreshed under way?';
    const [one] = gateways;
    const { ended } = await underWay(question);
    const fromCache = () => kept(() => vendor.ask(one.url, question, inSession('only')));
    const refreshed = async () => {
      await vendor.ask(one.url, question, inSession('refresh'));
      return fromCache();
    };
    // Kept behind its answer, if Redis takes it in time.
    await expect.poll(refreshed, SOON).toBe('asked for after');
    await ended();
    await expect.poll(fromCache, SOON).toBe('asked for after');
  });

  describe('whose answer is under way while the other throws answers out', () => {
    async function askedBefore(question: string) {
      const [one, other] = gateways;
      const { ended } = await underWay(question);
      expect((await other.operator('POST', '/v1/cache/invalidate', {})).status).toBe(200);
      return { one, other, ended };
    }

    test('do not keep it', async () => {
      const question = 'What does the other gateway throw out?';
      const { one, other, ended } = await askedBefore(question);
      await ended();
      for (const gateway of [other, one])
        expect((await vendor.ask(gateway.url, question, inSession())).text).toBe('asked for after');
    });

    test('let nobody wait for it who asks behind that', async () => {
      const question = 'Who waits for what was thrown out?';
      const { one, ended } = await askedBefore(question);
      const second = vendor.ask(one.url, question, inSession());
      await expect.poll(() => upstream.calls.length, SOON).toBe(2);
      expect((await second).text).toBe('asked for after');
      await ended();
      expect((await vendor.ask(one.url, question, inSession())).text).toBe('asked for after');
    });
  });

  test('answer when Redis has no room to keep the answer, and say so in the log', async () => {
    const [one] = gateways;
    upstream.script(always(vendor, { text: 'Not kept.' }));
    const { client, quit } = connectRedis(redis.socketPath, { onError: () => {} });
    await client.connect();
    await client.config('SET', 'maxmemory', '1');
    expect((await vendor.ask(one.url, 'Is there room?', inSession())).text).toBe('Not kept.');
    await expect.poll(() => one.output(), SOON).toContain('"event":"cache_redis_failed"');
    await client.config('SET', 'maxmemory', '0');
    await quit();
    await isBack(one);
  });

  test('fail open when Redis is killed under load, and hit again when it is back', async () => {
    upstream.script(always(vendor, { text: 'Always there.' }));
    let isOver = false;
    let answered = 0;
    const lane = async (gateway: RunningGateway, name: string) => {
      for (let at = 0; !isOver; at += 1) {
        const { text } = await vendor.ask(gateway.url, `Load ${name} ${at % 20}`, {
          agent: `load-${name}`,
          headers: { 'x-observatory-session': `load-${name}-${at}` },
        });
        expect(text).toBe('Always there.');
        answered += 1;
      }
    };
    const lanes = gateways.flatMap((gateway, at) => [lane(gateway, `a${at}`), lane(gateway, `b${at}`)]);
    const progress = async () => {
      const from = answered;
      await expect.poll(() => answered, SOON).toBeGreaterThan(from + 40);
    };
    await progress();
    await redis.kill();
    await progress();
    await expect.poll(async () => (await stats(gateways[0])).is_degraded, SOON).toBe(true);
    await redis.start();
    for (const gateway of gateways) await isBack(gateway);
    const hits = (await stats(gateways[0])).exact_hits;
    await progress();
    await expect.poll(async () => (await stats(gateways[0])).exact_hits, SOON).toBeGreaterThan(hits);
    isOver = true;
    await Promise.all(lanes);
    // What failed meanwhile is told to Prometheus, too.
    const metrics = await (await fetch(`${gateways[0].url}/metrics`)).text();
    expect(Number(/^observatory_cache_backend_failures_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  });
});
