/** Two operators who act on one thing at the same moment: one order of the two, an entry of the audit for each act, no error of ours. */
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { operatorAt, type RunningGateway } from './start-gateway.js';
import { gateway, startOneGateway } from './start-one-gateway.js';

const ROUNDS = Array.from({ length: 10 }, (_, round) => round);

startOneGateway();
let second: RunningGateway['operator'];
beforeAll(async () => {
  const { body } = await gateway.operator('POST', '/v1/operators', { name: 'second', role: 'admin' });
  second = operatorAt(gateway.url, body.secret, 'second');
});

/** Which of them is sent first takes turns. */
const atOnce = async <T>(round: number, one: () => Promise<T>, other: () => Promise<T>): Promise<[T, T]> => {
  if (round % 2 === 0) return Promise.all([one(), other()]);
  const [last, first] = await Promise.all([other(), one()]);
  return [first, last];
};
const audited = async (contains: string) => {
  const { body } = await gateway.operator('GET', '/v1/audit?limit=500');
  return body.items.filter((entry: unknown) => JSON.stringify(entry).includes(`"${contains}"`));
};
const actionsOf = (entries: { action: string }[]) => entries.map(({ action }) => action).sort();
const begin = async (session_id: string) =>
  expect(
    (await gateway.ingest(buildDecisionLog({ meta: { session_id, trace_id: session_id } }))).status,
  ).toBe(202);

test('a pause and a resume leave the session as the one left it that came last', async () => {
  for (const round of ROUNDS) {
    const session = `pause-resume-${round}`;
    await begin(session);
    const [paused, resumed] = await atOnce(
      round,
      () => gateway.operator('POST', `/v1/sessions/${session}/pause`, { reason: 'look' }),
      () => second('POST', `/v1/sessions/${session}/resume`, {}),
    );
    expect([paused.status, resumed.status]).toEqual([200, 200]);
    const { body } = await gateway.operator('GET', `/v1/sessions/${session}`);
    const wasResumed = resumed.body.note === undefined;
    expect(body.control.state).toBe(wasResumed ? 'active' : 'pause_requested');
    expect(actionsOf(await audited(session))).toEqual(['pause', 'resume']);
  }
});

test('guidance comes before a termination or is refused', async () => {
  for (const round of ROUNDS) {
    const session = `terminate-guide-${round}`;
    await begin(session);
    const [terminated, guided] = await atOnce(
      round,
      () => gateway.operator('POST', `/v1/sessions/${session}/terminate`, { reason: 'enough' }),
      () => second('POST', `/v1/sessions/${session}/inject`, { prompt: 'Look at the other file.' }),
    );
    expect(terminated.status).toBe(200);
    expect([200, 409]).toContain(guided.status);
    expect((await gateway.operator('GET', `/v1/sessions/${session}`)).body.control.state).toBe('terminated');
    expect(actionsOf(await audited(session))).toEqual(['inject', 'terminate']);
  }
});

test('changes of different limits of one policy are both kept', async () => {
  for (const round of ROUNDS) {
    const path = `/v1/agents/limits-${round}/policy`;
    const answers = await atOnce(
      round,
      () => gateway.operator('PATCH', path, { requests_per_minute: 7 }),
      () => second('PATCH', path, { tokens_per_minute: 900 }),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await gateway.operator('GET', path)).body).toMatchObject({
      requests_per_minute: 7,
      tokens_per_minute: 900,
    });
    const entries = await audited(`limits-${round}`);
    expect(entries.map(({ operator_id }: any) => operator_id).sort()).toEqual(['second', 'tester']);
  }
});

test('a rule never names a channel that is deleted while it is saved', async () => {
  for (const round of ROUNDS) {
    const { body: made } = await gateway.operator('POST', '/v1/alert-channels', {
      kind: 'webhook',
      name: `Channel ${round}`,
      url: 'http://127.0.0.1:9/',
      allow_private: true,
    });
    const id = made.channel.channel_id;
    const [deleted, saved] = await atOnce(
      round,
      () => gateway.operator('DELETE', `/v1/alert-channels/${id}`),
      () =>
        second('POST', '/v1/alert-rules', { name: `Rule ${round}`, type: 'kill_switch', channel_ids: [id] }),
    );
    expect([200, 409]).toContain(deleted.status);
    expect([201, 422]).toContain(saved.status);
    expect(
      actionsOf(await audited(id)).filter((action: string) => action !== 'alert_channel.create'),
    ).toEqual([
      ...(deleted.status === 200 ? ['alert_channel.delete'] : []),
      ...(saved.status === 201 ? ['alert_rule.create'] : []),
    ]);
    const { body: channels } = await gateway.operator('GET', '/v1/alert-channels');
    const { body: rules } = await gateway.operator('GET', '/v1/alert-rules');
    const known = channels.items.map(({ channel_id }: any) => channel_id);
    for (const rule of rules.items) for (const one of rule.channel_ids) expect(known).toContain(one);
  }
});
