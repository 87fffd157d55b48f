/** An alert in somebody's hands: over hours that pass, restarts, deaths, a rule that changes, and a full disk. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { buildDecisionLog, ScriptedUpstream } from '#testing';
import { type Receiver, startReceiver, status } from './http-receiver.js';
import { loopIn } from './loop-in.js';
import { ask, ChatVendor } from './model/proxied-chat.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';
import {
  AGENT_KEY,
  makeDataDir,
  OPERATOR_TOKEN,
  operatorAt,
  type RunningGateway,
  type StartOptions,
  startGateway,
} from './start-gateway.js';
import { upstreamsAt } from './start-one-gateway.js';

type Json = Record<string, any>;

const DAY_S = 86_400;
const SHIFT_S = 8 * 3_600;
const DISK_BYTES = 48 * 1024 * 1024;
/** Less than the gateway keeps free: steps and deliveries are refused, what operators do is not. */
const ROOM_BYTES = 8 * 1024 * 1024;
const disk = mountSmallDisk(DISK_BYTES) as SmallDisk;

let upstream: ScriptedUpstream;
let receiver: Receiver;
let gateway: RunningGateway;
let options: StartOptions;

beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  upstream.script(new ChatVendor().script);
  receiver = await startReceiver();
  receiver.answer = status(200);
});
afterEach(async () => {
  expect(await gateway.stop()).toBe(0);
});
afterAll(async () => {
  await receiver.close();
  await upstream.close();
});

async function start(given: StartOptions): Promise<void> {
  options = given;
  gateway = await startGateway(options);
}
async function killAndStart(): Promise<void> {
  await gateway.kill();
  gateway = await startGateway(options);
}

const as = (person: string) => operatorAt(gateway.url, OPERATOR_TOKEN, person);
async function done(person: string, method: string, path: string, body?: unknown): Promise<Json> {
  const answer = await as(person)(method, path, body);
  expect(answer).toMatchObject({ status: method === 'POST' && !path.includes('acknowledge') ? 201 : 200 });
  return answer.body;
}
const take = (person: string, ruleId: string, agent_id: string | null, acknowledged = true) =>
  done(person, 'POST', `/v1/alert-rules/${ruleId}/acknowledge`, { agent_id, acknowledged });
async function inHands(ruleId: string): Promise<Record<string, string | null>> {
  const { items } = await done('ada', 'GET', '/v1/alert-rules');
  const { firing } = items.find(({ rule_id }: Json) => rule_id === ruleId);
  return Object.fromEntries(
    firing.map(({ agent_id, acknowledged }: Json) => [agent_id, acknowledged?.by ?? null]),
  );
}
const makeChannel = async () => {
  const body = { kind: 'webhook', name: 'on call', url: receiver.url, allow_private: true };
  return (await done('ada', 'POST', '/v1/alert-channels', body)).channel.channel_id;
};

test('it is not repeated while the others are, for a shift at most, and belongs to one firing', async () => {
  const daysFile = join(makeDataDir(), 'days');
  // What is spent in a month begins anew with the next.
  let aheadS = new Date().getUTCDate() > 25 ? 10 * DAY_S : 0;
  const setClock = () => writeFileSync(daysFile, String(aheadS / DAY_S));
  setClock();
  await start({
    dataDir: makeDataDir(),
    env: {
      ...upstreamsAt(upstream.origin),
      NODE_OPTIONS: `--import ${fileURLToPath(new URL('days-later.mjs', import.meta.url))}`,
      DAYS_FILE: daysFile,
    },
  });
  const pass = (seconds: number) => {
    aheadS += seconds;
    setClock();
    gateway.process.kill('SIGUSR2');
  };
  let heardCount = 0;
  /** In the order in which they were said: whatever a tick has to say besides comes before its last. */
  const hears = async (...expected: string[]) => {
    const said = async () => {
      const { items } = await done('ada', 'GET', '/v1/alert-deliveries?limit=500');
      return items.toReversed().map(({ notice }: Json) => `${notice.phase} ${notice.agent_id ?? 'all'}`);
    };
    await expect.poll(async () => (await said()).slice(heardCount), { timeout: 20_000 }).toEqual(expected);
    heardCount += expected.length;
  };
  const channel_ids = [await makeChannel()];
  const rule = { threshold_usd: 0.01, period: 'month', cooldown_s: 0, repeat_s: 60, channel_ids };
  const makeRule = async (type: string) =>
    (await done('ada', 'POST', '/v1/alert-rules', { name: type, type, ...rule })).rule_id;
  const total = await makeRule('total_spend');
  const each = await makeRule('spend');
  for (const name of ['one', 'two']) {
    const question = { id: name, model: 'gpt-4o' };
    const headers = { authorization: `Bearer ${AGENT_KEY}`, 'x-observatory-session': name };
    expect(await ask(`${gateway.url}/agents/${name}`, headers, question)).toBe('answered');
  }
  await hears('firing all', 'firing one', 'firing two');

  await take('ada', each, 'one');
  await take('ben', total, null);
  await hears('acknowledged one', 'acknowledged all');
  pass(61);
  await hears('repeat two');
  await killAndStart();
  expect([await inHands(total), await inHands(each)]).toEqual([{ null: 'ben' }, { one: 'ada', two: null }]);
  pass(61);
  await hears('repeat two');

  await take('ada', total, null, false);
  await hears('repeat all');
  await killAndStart();
  expect(await inHands(total)).toEqual({ null: null });

  // Nobody is woken to be told who need not get up.
  await done('ada', 'PATCH', `/v1/alert-rules/${each}`, { muted_until_ms: Date.now() + 90 * DAY_S * 1_000 });
  await take('ben', each, 'one', false);
  await take('ben', each, 'one');
  pass(61);
  await hears('repeat all');
  await done('ada', 'PATCH', `/v1/alert-rules/${each}`, { muted_until_ms: null });
  await hears('repeat two');

  pass(SHIFT_S);
  await hears('repeat all', 'repeat one', 'repeat two');
  expect(await inHands(each)).toEqual({ one: null, two: null });

  await take('ada', each, 'one');
  await hears('acknowledged one');
  await done('ada', 'PATCH', `/v1/alert-rules/${each}`, { threshold_usd: 1_000 });
  await hears('recovered one', 'recovered two');
  await done('ada', 'PATCH', `/v1/alert-rules/${each}`, { threshold_usd: 0.01 });
  await hears('firing one', 'firing two');
  expect(await inHands(each)).toEqual({ one: null, two: null });
  await take('ada', each, 'two');
  await done('ben', 'DELETE', `/v1/alert-rules/${each}`);
  await hears('acknowledged two', 'recovered one', 'recovered two');
});

test.skipIf(disk === null)(
  'what was answered holds on a full disk too, after the process was killed',
  async () => {
    await start({ dataDir: join(disk.mountPoint, 'data') });
    const channel_ids = [await makeChannel()];
    const rule = 'default_entropy_loop';
    await done('ada', 'PATCH', `/v1/alert-rules/${rule}`, { channel_ids });
    for (const name of ['one', 'two']) await loopIn(gateway, name, name);
    await expect.poll(() => inHands(rule)).toEqual({ one: null, two: null });
    await take('ada', rule, 'one');
    await expect.poll(() => receiver.received.at(-1)?.body).toContain('acknowledged');

    disk.fill(ROOM_BYTES);
    expect((await gateway.ingest(buildDecisionLog())).status).toBe(503);
    await take('ben', rule, 'one', false);
    await take('ben', rule, 'two');
    await killAndStart();
    expect(await inHands(rule)).toEqual({ one: null, two: 'ben' });
    disk.clear();
  },
);
