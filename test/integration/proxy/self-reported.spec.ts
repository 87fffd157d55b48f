/** An agent that tells its steps itself and calls its model through the proxy: each step counts once. */
import OpenAI from 'openai';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

startOneGateway(upstreamsAt);
beforeAll(async () => {
  upstream.script(
    always(openaiChat, (index) => ({ text: `Thought ${'abcdefghijklmnopqrstuvwxyzABCDEF'[index]}` })),
  );
});

const openai = (agentId: string | undefined, session: string) =>
  new OpenAI({
    baseURL: `${gateway.url}${agentId === undefined ? '' : `/agents/${agentId}`}/proxy/openai/v1`,
    apiKey: AGENT_KEY,
    maxRetries: 0,
    defaultHeaders: { 'x-observatory-session': session },
  });
const askAbout = (client: OpenAI, step: number) =>
  client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: `What follows from ${'mnopqrst'[step]}?` }],
  });
const stepsOf = async (session: string): Promise<unknown[]> =>
  (await gateway.operator('GET', `/v1/sessions/${session}/decision-logs?limit=50`)).body.items ?? [];

test.each([
  ['under one name', 'twofold', 'twofold'],
  ['under the name of its key, its calls naming none', 'told', undefined],
])('an agent in a loop that posts its steps is found out, %s', async (_, agentId, proxied) => {
  const session = `self-reported-${agentId}`;
  const client = openai(proxied, session);
  // Of another agent: steps leave in the order of their calls, so what came of an earlier call is there once its is.
  const after = `after-${agentId}`;
  const witness = openai('witness', after);
  const severities: string[] = [];
  for (let step = 0; step < 8; step += 1) {
    const log = buildDecisionLog({
      meta: { trace_id: `${session}-${step}`, session_id: session },
      identity: { agent_id: agentId },
      cognition: { intent: 'Read report' },
    });
    severities.push((await (await gateway.ingest(log)).json()).entropy.severity);
    await askAbout(client, step);
    await askAbout(witness, step);
    await expect.poll(() => stepsOf(after)).toHaveLength(step + 1);
  }
  expect(severities.at(-1)).toBe('loop');
  expect(await stepsOf(session)).toHaveLength(8);
  const calls = await gateway.operator('GET', `/v1/calls?session_id=${session}`);
  expect(calls.body.items).toHaveLength(8);
});

test.each(['stop', 'kill'] as const)(
  'its first call after a restart makes no step either (%s)',
  async (end) => {
    const session = `restarted-${end}`;
    const agentId = `restarted-${end}`;
    await gateway.ingest(
      buildDecisionLog({ meta: { session_id: session }, identity: { agent_id: agentId } }),
    );
    await gateway[end]();
    await startAgain();
    await askAbout(openai(agentId, session), 0);
    const after = `after-${end}`;
    await askAbout(openai('witness', after), 0);
    await expect.poll(() => stepsOf(after)).toHaveLength(1);
    expect(await stepsOf(session)).toHaveLength(1);
  },
);

test('an id that is not ASCII names the same session and agent in a header as in a DecisionLog', async () => {
  const [session, agentId] = ['票 4711', 'Zoë'];
  await gateway.ingest(buildDecisionLog({ meta: { session_id: session }, identity: { agent_id: agentId } }));
  // As clients that are not browsers send them; Node takes each byte for a character.
  const asBytes = (id: string) => Buffer.from(id).toString('latin1');
  const client = openai(undefined, asBytes(session));
  await client.chat.completions.create(
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What follows?' }] },
    { headers: { 'x-observatory-agent': asBytes(agentId) } },
  );
  const named = () => gateway.operator('GET', `/v1/calls?session_id=${encodeURIComponent(session)}`);
  await expect.poll(async () => (await named()).body.items).toMatchObject([{ agent_id: agentId }]);
});
