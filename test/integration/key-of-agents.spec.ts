/** A key that may speak for some agents alone: whoever has it cannot call, or report, under another name. */
import { io } from 'socket.io-client';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildDecisionLog, respondJson } from '#testing';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from './start-one-gateway.js';

startOneGateway((origin) => upstreamsAt(origin));

let secret = '';
beforeAll(async () => {
  const created = await gateway.operator('POST', '/v1/agent-keys', {
    name: 'desk fleet',
    agent_ids: ['help-desk', 'night desk', 'help-desk'],
  });
  expect(created).toMatchObject({ status: 201, body: { key: { agent_ids: ['help-desk', 'night desk'] } } });
  secret = created.body.secret;
});

const answerAnything = () =>
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'c',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' } }],
    }),
  );
let serial = 0;
const call = async (path: string, headers: Record<string, string> = {}) => {
  const content = `Where is order ${++serial}?`;
  const response = await fetch(`${gateway.url}${path}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  });
  return { status: response.status, body: (await response.json()) as { error?: { code: string } } };
};
const logOf = (agent_id: string, extra = {}) =>
  buildDecisionLog({ identity: { agent_id }, ...extra } as never);
const send = async (body: string) => {
  const response = await fetch(`${gateway.url}/v1/decision-logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, body: (await response.json()) as Record<string, any> };
};
const refusal = { status: 'rejected', reason: 'agent_refused', detail: expect.stringContaining('"other"') };

test.each([
  ['a header', '', { 'x-observatory-agent': 'other' }],
  ['the path', '/agents/other', {}],
  ['a header against the path', '/agents/help-desk', { 'x-observatory-agent': 'other' }],
  ['letters of another case', '/agents/Help-Desk', {}],
])('a call that names another agent in %s goes nowhere', async (_, path, headers) => {
  answerAnything();
  expect(await call(path, headers)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  expect(upstream.calls).toHaveLength(0);
});

test('calls of its agents go on, and one that names none is of the first', async () => {
  answerAnything();
  expect(await call('/agents/night%20desk')).toMatchObject({ status: 200 });
  expect(await call('')).toMatchObject({ status: 200 });
  const ids = async () =>
    (await gateway.operator('GET', '/v1/agents')).body.items.map((one: any) => one.agent_id);
  await expect.poll(async () => (await ids()).sort()).toEqual(['help-desk', 'night desk']);
});

test('an agent that was stopped does not go on under another name', async () => {
  answerAnything();
  await gateway.operator('POST', '/v1/agents/help-desk/deactivate', { reason: 'enough' });
  expect(await call('')).toMatchObject({ status: 403, body: { error: { code: 'agent_inactive' } } });
  expect(await call('/agents/help-desk-2')).toMatchObject({
    status: 403,
    body: { error: { code: 'forbidden' } },
  });
  expect(upstream.calls).toHaveLength(0);
  await gateway.operator('POST', '/v1/agents/help-desk/reactivate', {});
});

test('a step of another agent is refused, and its neighbours in a batch are taken', async () => {
  const own = logOf('help-desk');
  expect(await send(JSON.stringify(own))).toMatchObject({ status: 202 });
  expect(await send(JSON.stringify(logOf('other')))).toMatchObject({ status: 403, body: refusal });
  const batch = await send(JSON.stringify([logOf('night desk'), logOf('other')]));
  expect(batch).toMatchObject({ status: 207, body: { results: [{ status: 'accepted' }, refusal] } });
  const { body } = await gateway.operator('GET', '/v1/sessions?agent_id=other');
  expect(body.items).toEqual([]);
});

test('a malformed step in the name of another agent is told of nobody', async () => {
  const { meta: _, ...broken } = logOf('other');
  expect(await send(JSON.stringify(broken))).toMatchObject({
    status: 422,
    body: { reason: 'schema_violation' },
  });
  // The refusal does not wait for the disk.
  const told = async () => (await gateway.operator('GET', '/v1/violations')).body.items;
  await expect.poll(told).toEqual([expect.objectContaining({ agent_id: 'unknown' })]);
});

test('a socket is held to the same', async () => {
  const socket = io(`${gateway.url}/agents`, { auth: { key: secret }, transports: ['websocket'] });
  onTestFinished(() => void socket.disconnect());
  const say = (body: unknown) => socket.timeout(5_000).emitWithAck('decision_log', body);
  expect(await say(logOf('other'))).toMatchObject(refusal);
  expect(await say(logOf('help-desk'))).toMatchObject({ status: 'accepted' });
});

test('a restart forgets nothing of it, and the audit says it', async () => {
  await gateway.stop();
  await startAgain();
  answerAnything();
  expect(await call('/agents/other')).toMatchObject({ status: 403 });
  expect(await call('/agents/help-desk')).toMatchObject({ status: 200 });
  const { body } = await gateway.operator('GET', '/v1/audit?limit=50');
  const entry = body.items.find(
    (one: any) => one.action === 'agent_key.create' && one.detail.name === 'desk fleet',
  );
  expect(entry.detail).toMatchObject({ agent_ids: ['help-desk', 'night desk'] });
});

test.each([[[]], [['']], [['..']], [['a\u202eb']], [Array.from({ length: 101 }, (_, at) => `a${at}`)]])(
  'a key for agents %j is refused',
  async (agent_ids) => {
    const { status, body } = await gateway.operator('POST', '/v1/agent-keys', { name: 'odd', agent_ids });
    expect(status).toBe(422);
    expect(body.fields[0]).toMatch('agent_ids');
  },
);
