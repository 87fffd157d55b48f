/** A session is shown with its first call, ahead of any answer; where none comes, it says no more that the call is under way. */
import { expect, test } from 'vitest';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

const SOON = { timeout: 15_000, interval: 25 };

// Half of them, so one at a time, for one tenant.
startOneGateway((origin) => ({ ...upstreamsAt(origin), UPSTREAM_CALLS_MAX: '2' }));

const ask = (session: string, signal: AbortSignal | null = null) =>
  fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    signal,
    headers: {
      authorization: `Bearer ${AGENT_KEY}`,
      'content-type': 'application/json',
      'x-observatory-session': session,
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Go on.' }] }),
  });
const rowOf = async (session: string) => (await gateway.operator('GET', `/v1/sessions/${session}`)).body;

test('a first call that is refused for want of room, or that its client leaves, is under way no more', async () => {
  upstream.script(() => {});
  const leaving = new AbortController();
  const left = ask('left', leaving.signal).catch(() => null);
  await expect.poll(() => rowOf('left'), SOON).toMatchObject({ step_count: 0, last_status: 'pending' });
  expect((await ask('refused')).status).toBe(503);
  await expect.poll(() => rowOf('refused'), SOON).toMatchObject({ step_count: 0, last_status: 'success' });
  expect(await rowOf('left')).toMatchObject({ last_status: 'pending' });
  leaving.abort();
  expect(await left).toBeNull();
  await expect.poll(() => rowOf('left'), SOON).toMatchObject({ step_count: 0, last_status: 'success' });
  upstream.script((call, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        model: 'gpt-4o-mini',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: call.url } }],
      }),
    ),
  );
  expect((await ask('refused')).status).toBe(200);
  await expect.poll(() => rowOf('refused'), SOON).toMatchObject({ step_count: 1, last_status: 'success' });
});
