/** A revoked agent key: what waits under it is refused, whatever it waits for. */
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

/** Sooner than anybody who waits, for an operator or for an equal call, gives up. */
const AT_ONCE_MS = 10_000;

startOneGateway((origin) => ({ ...upstreamsAt(origin), LLM_CACHE_BACKEND: 'memory' }));

let serial = 0;
/** A key that can be revoked, and a session that an operator can act on. */
async function keyed() {
  const session = `revoked-${++serial}`;
  const { body } = await gateway.operator('POST', '/v1/agent-keys', { name: session });
  const { key, secret } = body as { key: { key_id: string }; secret: string };
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const log = buildDecisionLog({ meta: { trace_id: session, session_id: session } } as never);
  expect((await gateway.ingest(log, { authorization: `Bearer ${secret}` })).status).toBe(202);
  const call = (text: string, more: object = {}) =>
    fetch(`${gateway.url}/agents/${session}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'x-observatory-session': session },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }], ...more }),
      signal: AbortSignal.timeout(AT_ONCE_MS),
    });
  const poll = () =>
    fetch(`${gateway.url}/v1/sessions/${session}/control?wait_s=30`, { headers: { ...headers } });
  const revoke = async () =>
    expect((await gateway.operator('DELETE', `/v1/agent-keys/${key.key_id}`)).status).toBeLessThan(300);
  const command = async (name: string, fields: object = {}) =>
    expect(await gateway.operator('POST', `/v1/sessions/${session}/${name}`, fields)).toMatchObject({
      status: 200,
    });
  const control = async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).body.control;
  return { session, call, poll, revoke, command, control };
}

test('a held call is refused at once, in the vendor’s shape', async () => {
  const { session, call, revoke, command } = await keyed();
  upstream.script(always(openaiChat, { text: 'not for a stranger' }));
  await command('pause', { reason: 'the key leaked' });
  const held = call('Go on');
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/held-calls?session_id=${session}`)).body.items)
    .toHaveLength(1);
  await command('inject', { prompt: 'words for those who may hear them' });
  // Nobody resumes the session.
  await revoke();
  const answer = await held;
  expect(answer.status).toBe(401);
  expect(answer.headers.get('x-should-retry')).toBe('false');
  expect(((await answer.json()) as any).error).toMatchObject({ code: 'unauthorized' });
  expect(upstream.calls).toHaveLength(0);
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/calls?session_id=${session}`)).body.items[0])
    .toMatchObject({ decision: 'refused', cost_usd: 0 });
});

test('a held stream that was begun ends at once with the refusal', { timeout: 40_000 }, async () => {
  const { call, revoke, command } = await keyed();
  upstream.script(always(openaiChat, { text: 'not for a stranger' }));
  await command('pause', { reason: 'the key leaked' });
  // Its head comes while the session is still paused.
  const held = await call('Go on', { stream: true });
  await revoke();
  const text = await held.text();
  expect(text).toContain('unauthorized');
  expect(text).not.toContain('not for a stranger');
  expect(upstream.calls).toHaveLength(0);
});

test('a call that waits for an equal one is refused at once', async () => {
  const [first, second] = [await keyed(), await keyed()];
  let answer = () => {};
  upstream.script((call, response, index) => {
    answer = () => void always(openaiChat, { text: 'not for a stranger' })(call, response, index);
  });
  // Only an agent that is known shows its running calls.
  await gateway.operator('PATCH', `/v1/agents/${second.session}/policy`, { requests_per_minute: 60 });
  const leads = first.call('The same question', { temperature: 0 });
  await expect.poll(() => upstream.calls.length).toBe(1);
  const waits = second.call('The same question', { temperature: 0 });
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/agents/${second.session}`)).body.running_call_count)
    .toBe(1);
  await second.revoke();
  expect((await waits).status).toBe(401);
  answer();
  expect((await leads).status).toBe(200);
  expect(upstream.calls).toHaveLength(1);
});

test('a call that is at its upstream is cut off, and those under other keys go on', async () => {
  const [leaked, other] = [await keyed(), await keyed()];
  let answer = () => {};
  upstream.script((call, response, index) => {
    if (index === 1) answer = () => void always(openaiChat, { text: 'for the other' })(call, response, index);
  });
  const cut = leaked.call('Spend on');
  await expect.poll(() => upstream.calls.length).toBe(1);
  const goesOn = other.call('Work on');
  await expect.poll(() => upstream.calls.length).toBe(2);
  await leaked.revoke();
  await upstream.calls[0]?.aborted;
  expect((await cut).status).toBe(401);
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/calls?session_id=${leaked.session}`)).body.items[0])
    .toMatchObject({ decision: 'cut_off', detail: expect.stringContaining('revoked') });
  answer();
  expect((await goesOn).status).toBe(200);
});

test('a hanging poll is refused at once, hears nothing and acknowledges nothing', async () => {
  const { poll, revoke, command, control } = await keyed();
  const polling = poll();
  await expect.poll(async () => (await control()).mode).toBe('cooperative');
  await revoke();
  expect((await polling).status).toBe(401);
  await command('pause', { reason: 'look' });
  expect((await control()).state).toBe('pause_requested');
});

test('a hanging poll of a revoked operator is refused at once', async () => {
  const { session } = await keyed();
  const { body } = await gateway.operator('POST', '/v1/operators', { name: 'leaver', role: 'viewer' });
  const polling = fetch(`${gateway.url}/v1/sessions/${session}/control?wait_s=30`, {
    headers: { authorization: `Bearer ${body.secret}` },
  });
  await expect
    .poll(
      async () => (await (await fetch(`${gateway.url}/metrics`)).text()).match(/polls_hanging (\d+)/)?.[1],
    )
    .toBe('1');
  await gateway.operator('DELETE', `/v1/operators/${body.operator.token_id}`);
  expect((await polling).status).toBe(401);
});
