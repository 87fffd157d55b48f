/** kill -9 right behind the answer to an operator's command: what was answered `ok` is done after the restart. */
import { expect, it } from 'vitest';
import { buildDecisionLog } from '#testing';
import { type RunningGateway, startGateway } from './start-gateway.js';

/** More than one release takes at once. */
const HELD_COUNT = 600;

const step = (gateway: RunningGateway, session_id: string, serial: number) =>
  gateway.ingest(buildDecisionLog({ meta: { trace_id: `${session_id}-${serial}`, session_id } }));

const command = async (
  gateway: RunningGateway,
  session: string,
  name: string,
  body: object,
): Promise<void> => {
  const answer = await gateway.operator('POST', `/v1/sessions/${session}/${name}`, body);
  expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
};

const actions = async (gateway: RunningGateway, session: string): Promise<string[]> => {
  const { body } = await gateway.operator('GET', `/v1/audit?session_id=${session}`);
  return body.items.map(({ action }: { action: string }) => action).sort();
};

it('is told to the agent, stands in the audit, and lets all go that was held', {
  timeout: 90_000,
}, async () => {
  const first = await startGateway();
  for (const session of ['ended', 'guided', 'paused']) await step(first, session, 0);
  await command(first, 'ended', 'pause', { reason: 'look' });
  const batch = Array.from({ length: HELD_COUNT }, (_, serial) =>
    buildDecisionLog({ meta: { trace_id: `held-${serial}`, session_id: 'ended' } }),
  );
  expect((await first.ingest(batch)).status).toBe(202);
  await command(first, 'guided', 'inject', { prompt: 'Use staging.' });
  await command(first, 'paused', 'pause', { reason: 'look' });
  await command(first, 'ended', 'terminate', { reason: 'enough' });
  await first.kill();

  const { dataDir } = first;
  const second = await startGateway({ dataDir });
  expect(await (await step(second, 'guided', 1)).json()).toMatchObject({
    control: { state: 'active', directives: [{ type: 'inject', prompt: 'Use staging.' }] },
  });
  expect(await (await step(second, 'paused', 1)).json()).toMatchObject({
    control: { state: 'paused', directives: [{ type: 'pause' }] },
  });
  expect(await (await step(second, 'ended', 1)).json()).toMatchObject({
    control: { state: 'terminated', directives: [{ type: 'terminate' }] },
  });
  expect(await actions(second, 'ended')).toEqual(['pause', 'terminate']);
  expect(await actions(second, 'guided')).toEqual(['inject']);
  expect(await actions(second, 'paused')).toEqual(['pause']);
  const control = async () => (await second.operator('GET', '/v1/sessions/ended')).body.control;
  await expect.poll(control, { timeout: 20_000 }).toMatchObject({ state: 'terminated', held_count: 0 });
  expect(await second.stop()).toBe(0);
});
