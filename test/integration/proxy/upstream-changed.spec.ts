/** An upstream is given another key, moved or removed while a call waits for what Redis says of its cache: the call heeds that. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ScriptedUpstream } from '#testing';
import { freePort } from '../free-ports.js';
import { type RedisRelay, startRedisRelay } from '../redis-relay.js';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';
import { always, openaiChat } from './vendors.js';

const SOON = { timeout: 15_000, interval: 20 };
/** Redis has 20 ms, in which a busy machine may not get as far as the change. */
const TRIES_MAX = 50;
/** So many turns behind an answer of the gateway's, whatever it sent an upstream before has been read here. */
const TURNS_TO_READ = 20;
const ENTRIES = 'under_test:{';

describe.skipIf(redisMissing !== null)('while a look-up waits for Redis', () => {
  let redis: RedisServer;
  let relay: RedisRelay;
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;

  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port), '--bind', '127.0.0.1']);
    relay = await startRedisRelay(port);
    upstream = await new ScriptedUpstream().listen();
    gateway = await startGateway({
      env: {
        REDIS_URL: relay.url,
        LLM_CACHE_BACKEND: 'redis',
        LLM_CACHE_SEMANTIC: 'off',
        LLM_CACHE_REDIS_PREFIX: 'under_test',
      },
    });
  });
  afterAll(async () => {
    expect(await gateway?.stop()).toBe(0);
    await upstream?.close();
    await redis?.stop();
  });

  const change = async (method: string, body?: object) =>
    expect((await gateway.operator(method, '/v1/upstreams/vendor', body)).status).toBeLessThan(300);
  const put = (body: object) => change('PUT', body);
  beforeEach(async () => {
    upstream.script(always(openaiChat, () => ({ text: 'Hello.' })));
    await put({ base_url: `${upstream.origin}/v1`, api_key: 'sk-old' });
  });
  /** One that was kept waiting may have been given up. */
  const isConnected = () =>
    expect
      .poll(async () => (await gateway.operator('GET', '/v1/cache/stats')).body, SOON)
      .toMatchObject({ backend: 'redis', is_degraded: false });

  let serial = 0;
  const ask = async (question: string) => {
    serial += 1;
    const response = await fetch(`${gateway.url}/proxy/vendor/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${AGENT_KEY}`,
        'content-type': 'application/json',
        'x-observatory-session': `s-${serial}`,
      },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        temperature: 0,
        messages: [{ role: 'user', content: question }],
      }),
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    return { status: response.status, code: error?.code ?? null };
  };
  const anew = () => `Question ${++serial}`;
  const keys = () => upstream.calls.map(({ headers }) => headers.authorization);

  /** @returns what comes of a call that is asked about while that is done, and that no upstream has by then */
  async function askDuring(act: () => Promise<void>, question: () => string) {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      await put({ base_url: `${upstream.origin}/v1`, api_key: 'sk-old' });
      await isConnected();
      // Leaves an open connection behind: on one that is yet to be made, a call waits that has been sent already.
      await ask(anew());
      upstream.calls.length = 0;
      relay.hold();
      const asked = relay.asked(ENTRIES);
      const outcome = ask(question());
      await Promise.race([asked, outcome]);
      await act();
      for (let turn = 0; turn < TURNS_TO_READ; turn += 1) await nextTurn();
      const wasSent = upstream.calls.length > 0;
      relay.release();
      const { status, code } = await outcome;
      if (!wasSent) return { status, code, keys: keys() };
      expect(keys()).toEqual(['Bearer sk-old']);
    }
    return expect.fail('no call waited for long enough');
  }

  test('a call goes with the key that its upstream has been given', async () => {
    const given = () => put({ api_key: 'sk-new' });
    expect(await askDuring(given, anew)).toEqual({ status: 200, code: null, keys: ['Bearer sk-new'] });
  });

  test.each([
    ['whose key is taken away', () => put({ api_key: null }), 401, 'unauthorized'],
    ['that is removed', () => change('DELETE'), 404, 'upstream_not_found'],
    ['that is moved', () => put({ base_url: `${upstream.origin}/v2` }), 503, 'upstream_changed'],
  ])('a call to one %s goes nowhere', async (_what, act, status, code) => {
    expect(await askDuring(act, anew)).toEqual({ status, code, keys: [] });
  });

  test('what is kept of one that is removed is given to nobody', async () => {
    const entries = async () => (await gateway.operator('GET', '/v1/cache/stats')).body.total_entries;
    const before = await entries();
    const isKept = async () => {
      await ask('What is kept?');
      return (await entries()) > before;
    };
    await expect.poll(isKept, SOON).toBe(true);
    expect(
      await askDuring(
        () => change('DELETE'),
        () => 'What is kept?',
      ),
    ).toEqual({
      status: 404,
      code: 'upstream_not_found',
      keys: [],
    });
  });
});
