/** Whose a proxied call is, and of which conversation: the table of the design's section 1, over the wire. */
import { beforeAll, expect, test } from 'vitest';
import type { LlmCall } from '#contracts';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

startOneGateway(upstreamsAt);
beforeAll(() => {
  upstream.script(always(openaiChat, { text: 'Heard.' }));
});

/** The call as it is recorded. */
async function record(
  messages: readonly [role: string, content: string][],
  {
    agent,
    key = AGENT_KEY,
    headers,
  }: { agent?: string; key?: string; headers?: Record<string, string> } = {},
): Promise<LlmCall> {
  const path = `${agent === undefined ? '' : `/agents/${agent}`}/proxy/openai/v1/chat/completions`;
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o',
      messages: messages.map(([role, content]) => ({ role, content })),
    }),
  });
  expect(response.status).toBe(200);
  await response.text();
  const id = response.headers.get('x-observatory-call');
  const call = () => gateway.operator('GET', `/v1/calls/${id}`);
  await expect.poll(async () => (await call()).status).toBe(200);
  return (await call()).body;
}

test('a call is of the agent that its header names, else its path, else of one named like its key', async () => {
  const created = await gateway.operator('POST', '/v1/agent-keys', { name: 'night shift' });
  const key = created.body.secret;
  const headers = { 'x-observatory-agent': 'by-header' };
  const agentOf = async (of: Parameters<typeof record>[1]) =>
    (await record([['user', 'Who am I?']], of)).agent_id;
  expect(await agentOf({ agent: 'by-path', headers, key })).toBe('by-header');
  expect(await agentOf({ agent: 'by-path', key })).toBe('by-path');
  expect(await agentOf({ key })).toBe('night shift');
});

test('a call is of the session that its header names, else of the conversation that began as it does', async () => {
  const begin: [string, string][] = [
    ['system', 'You sell shoes.'],
    ['user', 'Do you have sandals?'],
  ];
  const more: [string, string][] = [...begin, ['assistant', 'Heard.'], ['user', 'In red?']];
  const sessionOf = async (
    messages: [string, string][],
    agent = 'seller',
    headers: Record<string, string> = {},
  ) => (await record(messages, { agent, headers })).session_id;
  const session = await sessionOf(begin);
  expect(session).not.toBe('');
  expect(await sessionOf(more)).toBe(session);
  const others = [
    await sessionOf([['system', 'You sell hats.'], begin[1] as [string, string]]),
    await sessionOf([begin[0] as [string, string], ['user', 'Do you have boots?']]),
    await sessionOf(begin, 'other-seller'),
  ];
  expect(new Set([session, ...others]).size).toBe(4);
  expect(await sessionOf(begin, 'seller', { 'x-observatory-session': 'ticket 4711' })).toBe('ticket 4711');
});
