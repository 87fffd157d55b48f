/**
 * Semantic loops from end to end: a gateway with the sidecar that it starts itself, its bundled model, nothing scripted
 * but the upstream.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { LOOP_INTERVENTION_DEFAULT } from '#contracts';
import { deferred } from '#kernel';
import { startReceiver } from '../http-receiver.js';
import { AGENT_KEY, startGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

/** Starting takes as long as the machine is busy with other tests. */
const PATIENCE = { timeout: 20_000, interval: 50 };

startOneGateway((origin) => ({
  LOOP_DETECTION_ENABLED: 'true',
  // What is tested is what it finds; how fast, the bench says.
  LOOP_EMBEDDING_SIDECAR_TIMEOUT: '2s',
  LLM_CACHE_BACKEND: 'off',
  ...upstreamsAt(origin),
}));
beforeAll(async () => {
  // It is ready before its sidecar is.
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
});
beforeEach(() => serving());

const system = async () => (await gateway.operator('GET', '/v1/system')).body;
const serving = async () => {
  await expect.poll(async () => (await system()).sidecar.state, PATIENCE).toBe('serving');
};

let serial = 0;
const fresh = () => {
  serial += 1;
  return `real-${serial}`;
};

/** @param session "": nobody names it */
async function ask(
  session: string,
  text: string,
  {
    messages = [{ role: 'user', content: text }],
    agent = session,
  }: { messages?: object[]; agent?: string } = {},
) {
  const response = await fetch(
    `${gateway.url}/agents/${encodeURIComponent(agent)}/proxy/openai/v1/chat/completions`,
    {
      method: 'POST',
      headers: {
        authorization: `Bearer ${AGENT_KEY}`,
        'content-type': 'application/json',
        ...(session !== '' && { 'x-observatory-session': session }),
      },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
    },
  );
  await response.arrayBuffer();
  return { status: response.status, decision: response.headers.get('x-observatory-decision') };
}
const decisions = async (session: string, texts: readonly string[], agent = session) => {
  const seen: (string | null)[] = [];
  for (const text of texts) seen.push((await ask(session, text, { agent })).decision);
  return seen;
};

test('a sidecar that serves and whose Redis is away is seen to check nothing', async () => {
  const other = await startGateway({
    env: { LOOP_DETECTION_ENABLED: 'true', LOOP_EMBEDDING_REDIS_URL: 'redis://127.0.0.1:1' },
  });
  try {
    await expect
      .poll(async () => (await other.operator('GET', '/v1/system')).body.sidecar, PATIENCE)
      .toMatchObject({ state: 'serving', store: 'redis', store_problem: 'Redis is not connected' });
  } finally {
    expect(await other.stop()).toBe(0);
  }
});

test('a sidecar that hangs keeps nobody from the page of the cache, which names the model once it goes on', async () => {
  const other = await startGateway({ env: { LOOP_DETECTION_ENABLED: 'true', LLM_CACHE_BACKEND: 'memory' } });
  await expect
    .poll(async () => (await other.operator('GET', '/v1/system')).body.sidecar.state, PATIENCE)
    .toBe('serving');
  const sidecar = childOf(other.process.pid as number);
  process.kill(sidecar, 'SIGSTOP');
  try {
    expect(await other.operator('GET', '/v1/cache/stats')).toMatchObject({
      status: 200,
      body: { backend: 'memory', is_degraded: false, embedding_model: null },
    });
  } finally {
    process.kill(sidecar, 'SIGCONT');
  }
  await expect
    .poll(async () => (await other.operator('GET', '/v1/cache/stats')).body.embedding_model, PATIENCE)
    .toContain('observatory-static-384');
  expect(await other.stop()).toBe(0);
});

test('a sidecar that hangs is seen to be down by whoever looks, though no call needs it', async () => {
  const other = await startGateway({ env: { LOOP_DETECTION_ENABLED: 'true' } });
  const sidecarSeen = async () => (await other.operator('GET', '/v1/system')).body.sidecar;
  await expect.poll(sidecarSeen, PATIENCE).toMatchObject({ state: 'serving', detail: null });
  process.kill(childOf(other.process.pid as number), 'SIGSTOP');
  await expect.poll(sidecarSeen, PATIENCE).toMatchObject({ state: 'down', detail: 'It does not answer.' });
  expect(await other.stop()).toBe(0);
});

test('five times the same in other words: the first passes, the others get a hint', async () => {
  upstream.script(always(openaiChat, { text: 'It is on its way.' }));
  const session = fresh();
  const seen = await decisions(session, [
    'Find the cheapest flight from Zurich to Lisbon',
    'Find me the cheapest flight from Zurich to Lisbon',
    'Please find the cheapest flight from Zurich to Lisbon.',
    'Find the cheapest flights from Zurich to Lisbon',
    'find the cheapest flight, from Zurich, to Lisbon!',
  ]);
  expect(seen[0]).toBe('forwarded');
  expect(seen.slice(1)).toEqual(['hinted', 'hinted', 'hinted', 'hinted']);
  expect(JSON.stringify(upstream.calls[0]?.json)).not.toContain(LOOP_INTERVENTION_DEFAULT);
  expect(JSON.stringify(upstream.calls[4]?.json)).toContain(LOOP_INTERVENTION_DEFAULT);
  const { body } = await gateway.operator('GET', `/v1/semantic-loops?session_id=${session}`);
  expect(body.items.map((loop: any) => loop.action)).toEqual(['alerted', 'alerted', 'alerted', 'hinted']);
  for (const loop of body.items) expect(loop.similarity).toBeGreaterThan(loop.threshold);
});

test('the same asked five times at once, to take a vote, is asked once; after an answer it is asked again', async () => {
  const answered = deferred();
  upstream.script(async (call, response, index) => {
    if (index === 4) answered.resolve();
    await answered.promise;
    openaiChat.answer(call, response, { text: 'Lisbon.' });
  });
  const session = fresh();
  const vote = 'Which of these two cities has the cheaper hotels, Zurich or Lisbon?';
  const votes = await Promise.all(Array.from({ length: 5 }, () => ask(session, vote)));
  expect(votes.map(({ decision }) => decision)).toEqual(Array(5).fill('forwarded'));
  expect((await ask(session, vote)).decision).toBe('hinted');
});

test('a second session of an agent that loops is told by its name, while the alert of the first stands', async () => {
  upstream.script(always(openaiChat, { text: 'It is on its way.' }));
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const [agent, first, second] = [fresh(), fresh(), fresh()];
  const { body: created } = await gateway.operator('POST', '/v1/alert-channels', {
    kind: 'webhook',
    name: 'Loops',
    url: receiver.url,
    allow_private: true,
  });
  const rule = { name: 'Loops', type: 'semantic_loop', agent_id: agent, cooldown_s: 0 };
  const channel_ids = [created.channel.channel_id];
  const watching = await gateway.operator('POST', '/v1/alert-rules', { ...rule, channel_ids });
  expect(watching.status).toBe(201);
  const sameAgain = [
    'Where is my parcel 4711?',
    'Please, where is my parcel 4711?',
    'So where is my parcel 4711',
  ];
  for (const session of [first, second])
    expect(await decisions(session, sameAgain, agent)).toEqual(['forwarded', 'hinted', 'hinted']);
  const notices = (await receiver.arrived(2)).map(({ body }) => JSON.parse(body));
  expect(notices).toMatchObject([
    {
      type: 'semantic_loop',
      phase: 'firing',
      agent_id: agent,
      session_id: first,
      title: `Agent "${agent}" asks the same again`,
      detail: { occurrence: 2, loop_session_count: 1, newest_session_ids: [first] },
    },
    {
      phase: 'firing',
      session_id: second,
      title: `Agent "${agent}" asks the same again in another session`,
      text: expect.stringContaining(`Session "${second}" asks the same again. In all, 2 of its sessions do.`),
      detail: { loop_session_count: 2, new_session_count: 1, newest_session_ids: [second, first] },
    },
  ]);
  const { body: rules } = await gateway.operator('GET', '/v1/alert-rules');
  const { firing } = rules.items.find(({ rule_id }: any) => rule_id === watching.body.rule_id);
  expect(firing).toMatchObject([{ agent_id: agent, notice_count: 2 }]);
});

test('other questions, another file or number, and the same question elsewhere are no loop', async () => {
  upstream.script(always(openaiChat, { text: 'ok' }));
  const texts = [
    'What is the capital of France?',
    'Summarise src/parser.ts in one sentence.',
    'Summarise src/lexer.ts in one sentence.',
    'How many lines has chapter 4?',
    'How many lines has chapter 5?',
    'Write a haiku about rain.',
  ];
  expect(await decisions(fresh(), texts)).toEqual(texts.map(() => 'forwarded'));
  for (const session of ['a|b', 'a:b', 'a', '*'].map((name) => `${name}${fresh()}`))
    expect(await decisions(session, ['Where is my parcel right now?'])).toEqual(['forwarded']);
});

test('several agents of one session that are asked the same do not repeat each other, but each itself', async () => {
  upstream.script(always(openaiChat, { text: 'Lisbon, I should say.' }));
  const session = fresh();
  const ask = (agent: string, text: string) => decisions(session, [text], `${session}-${agent}`);
  for (const agent of ['planner', 'critic', 'judge'])
    expect(await ask(agent, 'Which city has the cheaper hotels, Zurich or Lisbon?')).toEqual(['forwarded']);
  const reworded = 'Please, which city has the cheaper hotels, Zurich or Lisbon?';
  for (const agent of ['planner', 'critic']) expect(await ask(agent, reworded)).toEqual(['hinted']);
});

test('one question that an agent puts to several prompts of its own, one after another, is no loop until it comes again', async () => {
  upstream.script(always(openaiChat, { text: 'ok' }));
  const session = fresh();
  const stages = ['Classify the message of the customer.', 'You are the help desk. It is 09:41.'];
  const turn = async (text: string, time = '09:41') => {
    const seen: (string | null)[] = [];
    for (const stage of stages) {
      const system = { role: 'system', content: stage.replace('09:41', time) };
      const messages = [system, { role: 'user', content: text }];
      seen.push((await ask(session, text, { messages })).decision);
    }
    return seen;
  };
  expect(await turn('Where can I return the lamp that I bought?')).toEqual(['forwarded', 'forwarded']);
  expect(await turn('How long does a refund take with a gift card?')).toEqual(['forwarded', 'forwarded']);
  expect(await turn('How long does a refund take with a gift card?', '09:42')).toEqual(['hinted', 'hinted']);
});

test('a conversation that nobody named loops where it asks its first question again, and a stranger’s first question does not', async () => {
  upstream.script(always(openaiChat, { text: 'ok' }));
  const agent = fresh();
  const first = { role: 'user', content: 'Which city has the cheaper hotels, Zurich or Lisbon?' };
  const reply = { role: 'assistant', content: 'That depends.' };
  const other = { role: 'user', content: 'How do I cancel a booking?' };
  const again = { role: 'user', content: 'Please, which city has the cheaper hotels, Zurich or Lisbon?' };
  const decisionOf = async (messages: object[]) => (await ask('', '', { messages, agent })).decision;
  expect(await decisionOf([first])).toBe('forwarded');
  expect(await decisionOf([first])).toBe('forwarded');
  expect(await decisionOf([first, reply, other])).toBe('forwarded');
  expect(await decisionOf([first, reply, other, reply, again])).toBe('hinted');
});

test('a conversation of sixty turns under a long system prompt is no loop', async () => {
  upstream.script(always(openaiChat, { text: 'ok' }));
  const session = fresh();
  const messages: object[] = [{ role: 'system', content: 'You are a careful assistant. '.repeat(1_000) }];
  const topics = ['tides', 'bread', 'glaciers', 'jazz', 'bees', 'steel', 'chess', 'comets', 'rivers', 'ink'];
  const asks = ['Who studied', 'What harms', 'Where does one find', 'How do I explain', 'Why do people fear'];
  const seen: (string | null)[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    const topic = topics[turn % topics.length];
    const text = `${asks[Math.floor(turn / topics.length) % asks.length]} ${topic}? ${turn >= 50 ? `Part ${turn}.` : ''}`;
    messages.push({ role: 'user', content: text });
    seen.push((await ask(session, text, { messages })).decision);
    messages.push({ role: 'assistant', content: `About ${topic}: it depends on many things.` });
  }
  expect(seen.filter((decision) => decision === 'hinted')).toEqual([]);
}, 60_000);

test('kill -9 of the sidecar under load: every call is answered, and loops are found again', async () => {
  upstream.script(always(openaiChat, { text: 'ok' }));
  const before = await system();
  // Its questions differ in a number only: what the kill switch takes for one and the same.
  await gateway.operator('PATCH', '/v1/agents/load/kill-switch', { enabled: false });
  let isOver = false;
  const statuses: number[] = [];
  const load = Array.from({ length: 8 }, async (_, worker) => {
    const session = fresh();
    for (let at = 0; !isOver; at += 1)
      statuses.push(
        (await ask(session, `Worker ${worker}, question ${at}: and now?`, { agent: 'load' })).status,
      );
  });
  await expect.poll(() => statuses.length, PATIENCE).toBeGreaterThan(40);
  process.kill(childOf(gateway.process.pid as number), 'SIGKILL');
  await expect
    .poll(async () => (await system()).sidecar.restart_count, PATIENCE)
    .toBe(before.sidecar.restart_count + 1);
  await serving();
  isOver = true;
  await Promise.all(load);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  const session = fresh();
  const seen = await decisions(session, ['Is anybody out there?', 'Please: is anybody out there?']);
  expect(seen).toEqual(['forwarded', 'hinted']);
  expect((await system()).semantic_loop.fail_open.unavailable).toBeGreaterThan(0);
  expect(gateway.output()).not.toContain('and now?');
}, 60_000);

test('the page of the system says what it leans on', async () => {
  const view = await system();
  expect(view.sidecar).toMatchObject({
    is_supervised: true,
    detail: null,
    dimension: 384,
    store: 'memory',
    model_id: expect.stringContaining('observatory-static-384'),
  });
  const { checks, latency, p50_ms, p99_ms } = view.semantic_loop;
  expect(checks.loop).toBeGreaterThanOrEqual(4);
  expect(p99_ms).toBeGreaterThanOrEqual(p50_ms);
  const counted = latency.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  expect(counted).toBeGreaterThanOrEqual(checks.loop + checks.clear);
  expect(latency.at(-1).below_ms).toBeNull();
});

test('a session goes on up the ladder where it was before a restart', async () => {
  upstream.script(always(openaiChat, { text: 'ok' }));
  const session = fresh();
  const asks = ['Where is my parcel 4712?', 'Please, where is my parcel 4712?', 'So where is my parcel 4712'];
  expect(await decisions(session, asks)).toEqual(['forwarded', 'hinted', 'hinted']);
  await gateway.stop();
  await startAgain();
  await serving();
  // Its prompts were the sidecar's, and are gone.
  expect(await decisions(session, asks.slice(0, 2))).toEqual(['forwarded', 'hinted']);
  const { body } = await gateway.operator('GET', `/v1/semantic-loops?session_id=${session}`);
  expect(body.items.map((loop: any) => [loop.occurrence, loop.action])).toEqual([
    [3, 'alerted'],
    [2, 'alerted'],
    [1, 'hinted'],
  ]);
});

/** The only child of a process. */
function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return Number(child);
}
