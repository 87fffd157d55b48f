/** An agent that tells its steps itself and calls its model through the proxy: each step counts once. */
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDecisionLog, ScriptedUpstream } from '#testing';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { always, openaiChat } from './vendors.js';

/** The gateway hands on a proxied call's step after a tenth of a second. */
const FEED_MS = 300;

let upstream: ScriptedUpstream;
let gateway: RunningGateway;
beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  upstream.script(always(openaiChat, (index) => ({ text: `Thought ${'abcdefghijkl'[index]}` })));
  gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-scripted',
    },
  });
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
  await upstream.close();
});

const waited = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test.each([
  ['under one name', 'twofold', 'twofold'],
  ['under the name of its key, its calls naming none', 'told', undefined],
])('an agent in a loop that posts its steps is found out, %s', async (_, agentId, proxied) => {
  const session = `self-reported-${agentId}`;
  const client = new OpenAI({
    baseURL: `${gateway.url}${proxied === undefined ? '' : `/agents/${proxied}`}/proxy/openai/v1`,
    apiKey: AGENT_KEY,
    maxRetries: 0,
    defaultHeaders: { 'x-observatory-session': session },
  });
  const severities: string[] = [];
  for (let step = 0; step < 8; step += 1) {
    const log = buildDecisionLog({
      meta: { trace_id: `${session}-${step}`, session_id: session },
      identity: { agent_id: agentId },
      cognition: { intent: 'Read report' },
    });
    severities.push((await (await gateway.ingest(log)).json()).entropy.severity);
    await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: `What follows from ${'mnopqrst'[step]}?` }],
    });
    await waited(FEED_MS);
  }
  expect(severities.at(-1)).toBe('loop');
  const { body } = await gateway.operator('GET', `/v1/sessions/${session}/decision-logs?limit=50`);
  expect(body.items).toHaveLength(8);
  const calls = await gateway.operator('GET', `/v1/calls?session_id=${session}`);
  expect(calls.body.items).toHaveLength(8);
});
