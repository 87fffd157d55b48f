/**
 * Alerting from end to end: a real gateway, agents that loop, and real receivers on loopback. What of this needs hours
 * or another network is in the specs of the parts.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { io } from 'socket.io-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { verifySignature } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { freePort } from './free-ports.js';
import { type Received, type Receiver, startReceiver, status } from './http-receiver.js';
import { type RunningGateway, startGateway } from './start-gateway.js';

const CANARY = 'canary-signing-secret-0123456789';

let gateway: RunningGateway;
const receivers: Receiver[] = [];
const cleanUp: (() => unknown)[] = [];
let agentCount = 0;
let sessionCount = 0;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
afterEach(async () => {
  for (const { rule_id } of (await gateway.operator('GET', '/v1/alert-rules')).body.items)
    await gateway.operator('DELETE', `/v1/alert-rules/${rule_id}`);
  for (const receiver of receivers.splice(0)) await receiver.close();
  for (const clean of cleanUp.splice(0)) await clean();
});

async function receive(answer = status(204)): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.answer = answer;
  receivers.push(receiver);
  return receiver;
}

async function createChannel(url: string, changes: object = {}, on = gateway) {
  const body = { kind: 'webhook', name: 'Test', url, allow_private: true, ...changes };
  const answer = await on.operator('POST', '/v1/alert-channels', body);
  expect(answer.status).toBe(201);
  return answer.body as { channel: { channel_id: string }; secret: string | null };
}

/** A rule for loops that tells this channel. */
async function watchLoops(channelId: string, on = gateway) {
  const rule = { name: 'Loops', type: 'entropy_loop', cooldown_s: 0, channel_ids: [channelId] };
  const answer = await on.operator('POST', '/v1/alert-rules', rule);
  expect(answer.status).toBe(201);
  return answer.body as { rule_id: string };
}

const newAgent = () => `looper-${process.pid}-${++agentCount}`;

/** A session in which an agent does the same thing five times. */
async function loop(on = gateway, agentId = newAgent()) {
  const sessionId = `ses-${++sessionCount}-${agentId}`;
  const steps = Array.from({ length: 5 }, (_, n) => ({
    meta: { trace_id: `${sessionId}-${n}`, timestamp: new Date().toISOString(), session_id: sessionId },
    identity: { agent_id: agentId, agent_type: 'test', capability_version: '1.0.0' },
    cognition: { intent: 'look again' },
    action: { status: 'failure', tool_call: 'search' },
  }));
  const answer = await on.ingest(steps);
  expect(answer.status).toBe(202);
  // A new rule tells of the loops that go on already: none is left to the next test.
  const end = () => on.operator('POST', `/v1/sessions/${sessionId}/terminate`, { reason: 'end of the test' });
  if (on === gateway) cleanUp.push(end);
  return { agentId, sessionId };
}

/** Deliveries as they are published, until one satisfies `isIt`. */
async function delivery(isIt: (one: any) => boolean, on = gateway): Promise<any> {
  const socket = io(`${on.url}/live`, { auth: { token: on.operatorToken }, transports: ['websocket'] });
  try {
    return await new Promise((resolve, reject) => {
      const look = (all: any[]) => all.some(isIt) && resolve(all.find(isIt));
      socket.on('frame', ({ events }) => look(events.map(({ payload }: any) => payload)));
      socket.on('connect_error', reject);
      socket.emit('subscribe', { topic: 'gateway:deliveries' }, ({ snapshot }: any) => look(snapshot));
    });
  } finally {
    socket.close();
  }
}

const sendTest = async (channelId: string): Promise<{ status: string; detail: string }> =>
  (await gateway.operator('POST', `/v1/alert-channels/${channelId}/test`)).body;

const parsed = ({ body }: { body: string }) => JSON.parse(body);

describe('a loop', () => {
  it('reaches a webhook, signed, and so does its end', async () => {
    const receiver = await receive();
    const { channel, secret } = await createChannel(receiver.url);
    await watchLoops(channel.channel_id);
    const { agentId, sessionId } = await loop();
    const [first] = await receiver.arrived(1);
    expect(parsed(first as never)).toMatchObject({
      type: 'entropy_loop',
      phase: 'firing',
      agent_id: agentId,
      session_id: sessionId,
    });
    const header = String(first?.headers['x-observatory-signature']);
    const signed = { header, body: first?.body ?? '', nowMs: Date.now() };
    expect(verifySignature({ ...signed, secret: secret ?? '' })).toBe(true);
    expect(verifySignature({ ...signed, secret: 'another-secret-of-mine' })).toBe(false);

    await gateway.operator('POST', `/v1/sessions/${sessionId}/terminate`, { reason: 'enough' });
    const [, second] = await receiver.arrived(2);
    expect(parsed(second as never)).toMatchObject({ phase: 'recovered', agent_id: agentId });
  });

  it('is closed at the webhook when its rule is removed, though it goes on', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    const { rule_id } = await watchLoops(channel.channel_id);
    const { agentId, sessionId } = await loop();
    await receiver.arrived(1);
    await gateway.operator('DELETE', `/v1/alert-rules/${rule_id}`);
    const [, closed] = await receiver.arrived(2);
    expect(parsed(closed as never)).toMatchObject({
      phase: 'recovered',
      rule_id,
      agent_id: agentId,
      session_id: sessionId,
      detail: { watch_ended: true },
    });
  });

  it('of another session of the same agent is told by its name, and the end is that of both', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    await watchLoops(channel.channel_id);
    const first = await loop();
    // A channel gets two notices at a time: only one that has arrived is surely ahead of the next.
    await receiver.arrived(1);
    const second = await loop(gateway, first.agentId);
    const [, another] = (await receiver.arrived(2)).map(parsed);
    expect(another).toMatchObject({
      phase: 'firing',
      agent_id: first.agentId,
      session_id: second.sessionId,
      title: `Agent "${first.agentId}" is going round in circles in another session`,
      detail: { loop_session_count: 2, newest_session_ids: [second.sessionId, first.sessionId] },
    });
    for (const { sessionId } of [first, second])
      await gateway.operator('POST', `/v1/sessions/${sessionId}/terminate`, { reason: 'enough' });
    const [, , over] = (await receiver.arrived(3)).map(parsed);
    expect(over).toMatchObject({ phase: 'recovered', session_id: second.sessionId });
    expect(receiver.received).toHaveLength(3);
  });

  it('shows in the default rules of a tenant that has no others, and reaches nobody', async () => {
    const tenant = { 'x-tenant-id': 'untouched', 'x-observatory-operator-id': 'tester' };
    const authorization = `Bearer ${gateway.operatorToken}`;
    const answer = await fetch(`${gateway.url}/v1/alert-rules`, { headers: { ...tenant, authorization } });
    const { items } = (await answer.json()) as { items: any[] };
    expect(items.map(({ type, channel_ids }) => [type, channel_ids])).toEqual([
      ['kill_switch', []],
      ['entropy_loop', []],
      ['semantic_loop', []],
      ['hitl_required', []],
    ]);
  });
});

describe('a receiver in trouble', () => {
  it('is tried again after a 500, with the same id', async () => {
    const receiver = await receive();
    let count = 0;
    receiver.answer = (one, response) => status(++count < 3 ? 500 : 200)(one, response);
    // The next waits are one and five seconds.
    const { channel } = await createChannel(receiver.url);
    await watchLoops(channel.channel_id);
    await loop();
    const [first, second] = await receiver.arrived(2);
    const id = first?.headers['x-observatory-delivery'];
    expect(second?.headers['x-observatory-delivery']).toBe(id);
    expect(second?.body).toBe(first?.body);
    await gateway.operator('POST', `/v1/alert-deliveries/${id}/retry`);
    const done = await delivery((one) => one.delivery_id === id && one.state === 'delivered');
    expect(done).toMatchObject({ attempt_count: 3, last_error: null });
  });

  it('that refuses makes a dead letter, which Retry sends again', async () => {
    const receiver = await receive(status(404));
    const { channel } = await createChannel(receiver.url);
    await watchLoops(channel.channel_id);
    await loop();
    const dead = await delivery((one) => one.channel_id === channel.channel_id && one.state === 'dead');
    expect(dead).toMatchObject({ last_error: 'it answers 404', attempt_count: 1 });
    const listed = await gateway.operator(
      'GET',
      `/v1/alert-deliveries?state=dead&channel_id=${channel.channel_id}`,
    );
    expect(listed.body.items).toMatchObject([{ delivery_id: dead.delivery_id }]);

    receiver.answer = status(200);
    const retried = await gateway.operator('POST', `/v1/alert-deliveries/${dead.delivery_id}/retry`);
    expect(retried).toMatchObject({ status: 200, body: { state: 'pending', attempt_count: 0 } });
    await delivery((one) => one.delivery_id === dead.delivery_id && one.state === 'delivered');
    const audit = await gateway.operator('GET', '/v1/audit?limit=5');
    expect(audit.body.items[0]).toMatchObject({ action: 'alert_delivery.retry', operator_id: 'tester' });
    expect((await gateway.operator('POST', '/v1/alert-deliveries/unknown/retry')).body.reason).toBe(
      'delivery_not_found',
    );
  });

  it('leaves dead letters, which are sent again all together, in their order, and audited once', async () => {
    const receiver = await receive(status(404));
    const [{ channel }, { channel: elsewhere }] = await Promise.all([
      createChannel(receiver.url),
      createChannel(receiver.url),
    ]);
    const { rule_id } = await watchLoops(channel.channel_id);
    const { agentId } = await loop();
    await gateway.operator('DELETE', `/v1/alert-rules/${rule_id}`);
    await watchLoops(elsewhere.channel_id);
    await receiver.arrived(3);
    const isDead = (one: any) => one.channel_id === elsewhere.channel_id && one.state === 'dead';
    await delivery(isDead);

    receiver.answer = status(200);
    const retry = (channel_id: string) =>
      gateway.operator('POST', '/v1/alert-deliveries/retry', { channel_id });
    expect(await retry(channel.channel_id)).toMatchObject({
      status: 200,
      body: { retried_count: 2, has_more: false },
    });
    const sentAgain = (await receiver.arrived(5)).slice(3).map(parsed);
    expect(sentAgain).toMatchObject([
      { phase: 'firing', agent_id: agentId, rule_id },
      { phase: 'recovered', agent_id: agentId, rule_id },
    ]);
    const audit = await gateway.operator('GET', '/v1/audit?limit=1');
    expect(audit.body.items).toMatchObject([
      { action: 'alert_delivery.retry_all', detail: { channel_id: channel.channel_id, count: 2 } },
    ]);
    expect((await retry('nowhere')).body.reason).toBe('alert_channel_not_found');
    await delivery(isDead);
  });

  it('is given a rest after failures in a row', async () => {
    const receiver = await receive(status(500));
    const { channel } = await createChannel(receiver.url);
    await watchLoops(channel.channel_id);
    for (let n = 0; n < 5; n += 1) await loop();
    await receiver.arrived(5);
    await expect
      .poll(async () => {
        const { items } = (await gateway.operator('GET', '/v1/alert-channels')).body;
        return items.find(({ channel_id }: any) => channel_id === channel.channel_id).circuit;
      })
      .toEqual({
        state: 'open',
        retry_at_ms: expect.any(Number),
        reason: expect.stringContaining('500'),
      });
  });
});

describe('an address inside', () => {
  it.each([
    ['127.0.0.1', false],
    ['2130706433', false],
    ['[::1]', false],
    ['10.1.2.3', false],
    ['169.254.169.254', false],
    ['169.254.169.254', true],
  ])('%s is refused at once where private ones are allowed: %j', async (host, allow_private) => {
    const body = { kind: 'webhook', name: 'Inside', url: `http://${host}/`, allow_private };
    const refused = await gateway.operator('POST', '/v1/alert-channels', body);
    expect([refused.status, refused.body.fields]).toEqual([422, ['url']]);
    expect(refused.body.detail).toMatch(
      allow_private ? /^url: .*no channel may reach/ : /^url: .*set allow_private/,
    );
  });

  it('a name that leads there is refused unless it is allowed, in a test and in a delivery', async () => {
    const receiver = await receive();
    const url = `http://localhost:${new URL(receiver.url).port}/`;
    const { channel } = await createChannel(url, { allow_private: false });
    expect(await sendTest(channel.channel_id)).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/^Not delivered: refused: its address is private/),
    });
    await watchLoops(channel.channel_id);
    await loop();
    const dead = await delivery((one) => one.channel_id === channel.channel_id && one.state === 'dead');
    expect(dead.last_error).toMatch(/^refused/);
    expect(receiver.received).toEqual([]);
  });

  it('is reached where that is allowed', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    expect(await sendTest(channel.channel_id)).toMatchObject({ status: 'ok' });
    expect(receiver.received.map(parsed)).toMatchObject([{ phase: 'test', tenant_id: 'default' }]);
  });
});

describe('other channels', () => {
  it('a chat gets one text, and nothing that it would take for markup', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(`${receiver.url}/services/T0/B0/x`, { kind: 'slack' });
    expect(await sendTest(channel.channel_id)).toMatchObject({ status: 'ok' });
    expect(Object.keys(parsed(receiver.received[0] as never))).toEqual(['text']);
    const { items } = (await gateway.operator('GET', '/v1/alert-channels')).body;
    expect(items.at(-1)).toMatchObject({ target: `${receiver.url}/...`, has_secret: true });
  });

  it('a mail server gets a mail', async () => {
    const mails: string[] = [];
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData: async (stream, _session, done) => {
        let text = '';
        for await (const chunk of stream) text += chunk;
        mails.push(text);
        done();
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => new Promise<void>((resolve) => server.close(resolve)));
    const { port: smtp_port } = server.server.address() as { port: number };
    const mail = {
      kind: 'email',
      to: ['ops@example.org'],
      from: 'o@example.org',
      smtp_host: '127.0.0.1',
      smtp_port,
    };
    const body = { name: 'Mail', ...mail, allow_private: true };
    const { channel } = (await gateway.operator('POST', '/v1/alert-channels', body)).body;
    await watchLoops(channel.channel_id);
    const { agentId } = await loop();
    await delivery((one) => one.channel_id === channel.channel_id && one.state === 'delivered');
    expect(mails[0]).toContain(`\r\nAgent "${agentId}" is going round in circles\r\n`);
  });
});

describe('an agent that asks for a person', () => {
  const watchWaits = (channelId: string, on = gateway) => {
    const rule = { name: 'Waits', type: 'hitl_required', cooldown_s: 0, channel_ids: [channelId] };
    return on.operator('POST', '/v1/alert-rules', rule);
  };
  const send = (session_id: string, agent_id: string, control = {}, on = gateway) =>
    on.ingest({
      meta: { trace_id: crypto.randomUUID(), timestamp: new Date().toISOString(), session_id },
      identity: { agent_id, agent_type: 'test', capability_version: '1.0.0' },
      cognition: { intent: 'transfer' },
      action: { status: 'pending' },
      control,
    });

  it('is told of, by session, and so is that somebody came', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    await watchWaits(channel.channel_id);
    const agentId = newAgent();
    const sessionId = `waits-${agentId}`;
    await send(sessionId, agentId, { hitl_required: true });
    const [first] = (await receiver.arrived(1)).map(parsed);
    expect(first).toMatchObject({
      type: 'hitl_required',
      phase: 'firing',
      agent_id: agentId,
      session_id: sessionId,
      title: `Agent "${agentId}" waits for a person`,
    });
    // Another agent of the session goes on: the wait is that of the one that asked.
    await send(sessionId, newAgent());
    await gateway.operator('POST', `/v1/sessions/${sessionId}/resume`, {});
    const [, over] = (await receiver.arrived(2)).map(parsed);
    expect(over).toMatchObject({ phase: 'recovered', agent_id: agentId, session_id: sessionId });
    expect(receiver.received).toHaveLength(2);
  });

  it('is none that an operator has paused', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    await watchWaits(channel.channel_id);
    const [paused, waiting] = [newAgent(), newAgent()];
    for (const agentId of [paused, waiting]) await send(`of-${agentId}`, agentId);
    await gateway.operator('POST', `/v1/sessions/of-${paused}/pause`, { reason: 'to look' });
    await send(`of-${paused}`, paused);
    await send(`of-${waiting}`, waiting, { hitl_required: true });
    expect(parsed((await receiver.arrived(1))[0] as never)).toMatchObject({ agent_id: waiting });
    for (const agentId of [paused, waiting])
      await gateway.operator('POST', `/v1/sessions/of-${agentId}/terminate`, { reason: 'end of the test' });
  });

  it('is told of though its session was paused already, and though another agent of it waits', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    const [first, second] = [newAgent(), newAgent()];
    const rule = { name: 'Waits', type: 'hitl_required', channel_ids: [channel.channel_id] };
    for (const agent_id of [first, second])
      await gateway.operator('POST', '/v1/alert-rules', { ...rule, agent_id });
    const sessionId = `of-${first}`;
    await send(sessionId, first);
    await gateway.operator('POST', `/v1/sessions/${sessionId}/pause`, { reason: 'to look' });
    await send(sessionId, first, { hitl_required: true });
    await receiver.arrived(1);
    await send(sessionId, second, { hitl_required: true });
    await receiver.arrived(2);
    await gateway.operator('POST', `/v1/sessions/${sessionId}/resume`, {});
    const told = (await receiver.arrived(4))
      .map(parsed)
      .map(({ phase, agent_id, session_id }) => [phase, agent_id, session_id]);
    expect(told.slice(0, 2)).toEqual([
      ['firing', first, sessionId],
      ['firing', second, sessionId],
    ]);
    // Queued in one turn, and on their way at the same time: either may be there first.
    expect(told.slice(2)).toEqual(
      expect.arrayContaining([first, second].map((id) => ['recovered', id, sessionId])),
    );
  });

  it('and dies in its wait, while one operator resumes and another terminates, is told of once, and so is the end', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    await watchWaits(channel.channel_id);
    const as = async (operator: string, sessionId: string, command: string) => {
      const headers = {
        authorization: `Bearer ${gateway.operatorToken}`,
        'x-observatory-operator-id': operator,
        'content-type': 'application/json',
      };
      const url = `${gateway.url}/v1/sessions/${sessionId}/${command}`;
      const answer = await fetch(url, { method: 'POST', headers, body: '{"reason":"it asks too much"}' });
      return answer.json() as Promise<any>;
    };
    const hanging = async () =>
      /^observatory_hitl_polls_hanging (\d+)$/m.exec(
        await (await fetch(`${gateway.url}/metrics`)).text(),
      )?.[1];
    const sessionIds: string[] = [];
    for (const commands of [
      ['resume', 'terminate'],
      ['terminate', 'resume'],
    ]) {
      const agentId = newAgent();
      const sessionId = `torn-${agentId}`;
      sessionIds.push(sessionId);
      await send(sessionId, agentId, { hitl_required: true });
      const life = new AbortController();
      const wait = fetch(`${gateway.url}/v1/sessions/${sessionId}/control?wait_s=55&after=1`, {
        headers: { authorization: `Bearer ${gateway.agentKey}` },
        signal: life.signal,
      }).catch(() => 'dead');
      await expect.poll(hanging).toBe('1');
      life.abort();
      const answers = await Promise.all(
        commands.map((command) => as(command === 'resume' ? 'ada' : 'bob', sessionId, command)),
      );
      expect(await wait).toBe('dead');
      await expect.poll(hanging).toBe('0');
      // Whichever came first, its agent is stopped, and what it asked with was let go once.
      const resumed = answers[commands.indexOf('resume')];
      const isResumedFirst = resumed.status === 'ok';
      expect(resumed).toMatchObject(
        isResumedFirst ? { status: 'ok', flushed_count: 1 } : { reason: 'session_terminated' },
      );
      expect(answers[commands.indexOf('terminate')]).toEqual({ status: 'ok' });
      const { body } = await gateway.operator('GET', `/v1/sessions/${sessionId}`);
      expect(body).toMatchObject({ step_count: 1, control: { state: 'terminated', held_count: 0 } });
      const { items } = (await gateway.operator('GET', `/v1/audit?session_id=${sessionId}`)).body;
      const acts = items.toReversed().filter(({ operator_id }: any) => operator_id !== 'system');
      expect(acts.map((one: any) => [one.operator_id, one.outcome, one.after_state])).toEqual(
        isResumedFirst
          ? [
              ['ada', 'ok', 'active'],
              ['bob', 'ok', 'terminated'],
            ]
          : [
              ['bob', 'ok', 'terminated'],
              ['ada', 'session_terminated', 'terminated'],
            ],
      );
    }
    expect((await gateway.operator('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true });
    // Each notice is queued in the turn of what it tells of: none can come behind these.
    await receiver.arrived(4);
    const { items } = (await gateway.operator('GET', '/v1/alert-deliveries')).body;
    const told = items.filter((one: any) => one.channel_id === channel.channel_id);
    expect(told.map(({ notice }: any) => `${notice.phase} ${notice.session_id}`).toSorted()).toEqual(
      ['firing', 'recovered'].flatMap((phase) => sessionIds.map((id) => `${phase} ${id}`)).toSorted(),
    );
  });

  const oneOther = (first: RunningGateway) => send('waits', 'planner', {}, first);
  it.each([
    ['and waited when the gateway was killed', async () => {}],
    ['in a session of several, and waited when the gateway was killed,', oneOther],
    [
      'in a session that an operator paused, behind more than is looked at of what one holds,',
      async (first: RunningGateway) => {
        await send('waits', 'clerk', {}, first);
        await first.operator('POST', '/v1/sessions/waits/pause', { reason: 'to look' });
        for (let n = 0; n < 25; n += 1) await oneOther(first);
      },
    ],
  ])('%s is told of once, and of the end after the restart', async (_, before) => {
    const dataDir = temporaryFolder();
    const receiver = await receive();
    const first = await startGateway({ dataDir });
    const { channel } = await createChannel(receiver.url, {}, first);
    await watchWaits(channel.channel_id, first);
    await before(first);
    await send('waits', 'clerk', { hitl_required: true }, first);
    await receiver.arrived(1);
    await delivery((one) => one.state === 'delivered', first);
    await first.kill();

    const second = await startGateway({ dataDir });
    cleanUp.push(() => second.stop());
    await second.operator('POST', '/v1/sessions/waits/resume', {});
    const all = (await receiver.arrived(2)).map(parsed);
    expect(all.map(({ phase, agent_id }) => [phase, agent_id])).toEqual([
      ['firing', 'clerk'],
      ['recovered', 'clerk'],
    ]);
  });

  it('and died with its gateway before anybody was to be told, is told of by the next, behind whatever its session holds', async () => {
    const dataDir = temporaryFolder();
    const receiver = await receive();
    const first = await startGateway({ dataDir });
    await send('waits', 'clerk', {}, first);
    await first.operator('POST', '/v1/sessions/waits/pause', { reason: 'to look' });
    for (let n = 0; n < 25; n += 1) await oneOther(first);
    await send('waits', 'clerk', { hitl_required: true }, first);
    await first.kill();

    const second = await startGateway({ dataDir });
    cleanUp.push(() => second.stop());
    const { channel } = await createChannel(receiver.url, {}, second);
    await watchWaits(channel.channel_id, second);
    const told = (await receiver.arrived(1)).map(parsed);
    expect(told).toMatchObject([{ phase: 'firing', agent_id: 'clerk', session_id: 'waits' }]);
    const { control } = (await second.operator('GET', '/v1/sessions/waits')).body;
    expect(control).toMatchObject({ state: 'pause_requested', operator_id: 'tester', asked_by: ['clerk'] });
  });
});

describe('a process that is killed', () => {
  it('leaves its pending deliveries to the next, which delivers them', async () => {
    const dataDir = temporaryFolder();
    const port = await freePort();
    const first = await startGateway({ dataDir });
    const { channel } = await createChannel(`http://127.0.0.1:${port}/`, { secret: CANARY }, first);
    await watchLoops(channel.channel_id, first);
    const { agentId } = await loop(first);
    const pending = await delivery((one) => one.state === 'pending' && one.attempt_count > 0, first);
    await first.kill();

    const receiver = await startReceiver({ port });
    receivers.push(receiver);
    const second = await startGateway({ dataDir });
    cleanUp.push(() => second.stop());
    const [arrived] = await receiver.arrived(1);
    expect(arrived?.headers['x-observatory-delivery']).toBe(pending.delivery_id);
    expect(parsed(arrived as never)).toMatchObject({ agent_id: agentId, phase: 'firing' });
    await delivery((one) => one.delivery_id === pending.delivery_id && one.state === 'delivered', second);

    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
    const metrics = await (await fetch(`${second.url}/metrics`)).text();
    const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'));
    for (const text of [first.output(), second.output(), metrics, ...files])
      expect(text).not.toContain(CANARY);
  });
});

describe('a process that ends while a delivery is under way', () => {
  /** A gateway of its own, one of whose notices has just arrived. */
  async function sending(receiver: Receiver) {
    const dataDir = temporaryFolder();
    const first = await startGateway({ dataDir });
    cleanUp.push(() => first.kill());
    const { channel, secret } = await createChannel(receiver.url, {}, first);
    await watchLoops(channel.channel_id, first);
    await loop(first);
    const [sent] = await receiver.arrived(1);
    const startAgain = async () => {
      const second = await startGateway({ dataDir });
      cleanUp.push(() => second.stop());
      return second;
    };
    return { first, sent: sent as Received, secret: secret ?? '', startAgain };
  }
  const idOf = ({ headers }: Received) => String(headers['x-observatory-delivery']);

  it('killed, has the next one send the same again, once, whatever the first attempt is answered too late', async () => {
    const late: (() => void)[] = [];
    const receiver = await receive((_, response) => {
      late.push(() => void response.writeHead(204).end());
    });
    const { first, sent, startAgain } = await sending(receiver);
    // Within the second in which nothing says that the loop was told but the delivery itself.
    await first.kill();

    const second = await startAgain();
    const [, again] = (await receiver.arrived(2)) as [Received, Received];
    expect(idOf(again)).toBe(idOf(sent));
    expect(again.body).toBe(sent.body);
    const listed = async () => (await second.operator('GET', '/v1/alert-deliveries')).body.items;
    // Under way again, and shown as what it is: neither a second row nor a state of its own.
    expect(await listed()).toMatchObject([{ delivery_id: idOf(sent), state: 'pending', attempt_count: 0 }]);
    for (const answer of late) answer();
    await delivery((one) => one.delivery_id === idOf(sent) && one.state === 'delivered', second);
    expect(await listed()).toMatchObject([
      { delivery_id: idOf(sent), state: 'delivered', attempt_count: 1, last_error: null },
    ]);
    // Nothing was left to anybody: a third process has nothing to send.
    await second.stop();
    const third = await startAgain();
    expect((await third.operator('GET', '/v1/alert-deliveries')).body.items).toHaveLength(1);
    expect(receiver.received).toHaveLength(2);
  });

  it('leaves one that nobody answers to the next, which sends the same again, signed', async () => {
    const receiver = await receive(() => undefined);
    const { first, sent, secret, startAgain } = await sending(receiver);
    expect(await first.stop()).toBe(0);
    expect(first.output()).not.toContain('drain step did not finish');

    receiver.answer = status(204);
    const second = await startAgain();
    const [, again] = (await receiver.arrived(2)) as [Received, Received];
    expect(idOf(again)).toBe(idOf(sent));
    expect(again.body).toBe(sent.body);
    for (const { headers, body } of [sent, again]) {
      const header = String(headers['x-observatory-signature']);
      expect(verifySignature({ header, body, nowMs: Date.now(), secret })).toBe(true);
    }
    const done = await delivery((one) => one.delivery_id === idOf(sent) && one.state === 'delivered', second);
    expect(done).toMatchObject({ attempt_count: 1, last_error: null });
    // Who was told is known: nothing else comes of the same loop.
    const { items } = (await second.operator('GET', '/v1/alert-deliveries')).body;
    expect(items).toHaveLength(1);
    expect(receiver.received).toHaveLength(2);
  });

  it('waits for the answer to one that is about to be answered, and does not send it again', async () => {
    let answer = () => {};
    const receiver = await receive((_, response) => {
      answer = () => void response.writeHead(204).end();
    });
    const { first, sent, startAgain } = await sending(receiver);
    const stopped = first.stop();
    await expect.poll(() => first.output()).toContain('draining');
    answer();
    expect(await stopped).toBe(0);

    receiver.answer = status(204);
    const second = await startAgain();
    await delivery((one) => one.delivery_id === idOf(sent) && one.state === 'delivered', second);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('an agent that is silent because', () => {
  it('an operator stopped it, or terminated its last session, is not missed; one beside them is, until it is stopped, too', async () => {
    const made = await gateway.operator('POST', '/v1/alert-rules', {
      name: 'Silent',
      type: 'agent_silent',
      window_s: 10,
    });
    expect(made.status).toBe(201);
    const seen = async (agentId: string) => {
      const answer = await gateway.ingest({
        meta: { trace_id: agentId, timestamp: new Date().toISOString(), session_id: `of-${agentId}` },
        identity: { agent_id: agentId, agent_type: 'test', capability_version: '1.0.0' },
        cognition: { intent: 'look' },
        action: { status: 'success' },
      });
      expect(answer.status).toBe(202);
      return agentId;
    };
    const [stopped, ended, missed] = [await seen(newAgent()), await seen(newAgent()), await seen(newAgent())];
    const command = (path: string) => gateway.operator('POST', path, { reason: 'not now' });
    expect((await command(`/v1/agents/${stopped}/deactivate`)).status).toBe(200);
    expect((await command(`/v1/sessions/of-${ended}/terminate`)).status).toBe(200);
    const silent = async () => {
      const { items } = (await gateway.operator('GET', '/v1/alert-rules')).body;
      const rule = items.find(({ rule_id }: { rule_id: string }) => rule_id === made.body.rule_id);
      return rule.firing.map(({ agent_id }: { agent_id: string }) => agent_id) as string[];
    };
    // It was seen last, so the others' time had come before.
    await expect.poll(silent, { timeout: 20_000 }).toContain(missed);
    expect(await silent()).not.toContain(stopped);
    expect(await silent()).not.toContain(ended);
    expect((await command(`/v1/agents/${missed}/deactivate`)).status).toBe(200);
    await expect.poll(silent, { timeout: 5_000 }).not.toContain(missed);
  });
});

describe('who may', () => {
  it('read alerts may not change them without the role, nor reach those of another tenant', async () => {
    const receiver = await receive();
    const { channel } = await createChannel(receiver.url);
    const made = await gateway.operator('POST', '/v1/operators', { name: 'night', role: 'operator' });
    const as = (token: string, path: string, init: RequestInit = {}, tenant = 'default') =>
      fetch(gateway.url + path, {
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          'x-observatory-operator-id': 'night',
          'x-tenant-id': tenant,
          'content-type': 'application/json',
        },
      });
    const token = made.body.secret as string;
    expect((await as(token, '/v1/alert-channels')).status).toBe(200);
    const path = `/v1/alert-channels/${channel.channel_id}`;
    expect((await as(token, path, { method: 'DELETE' })).status).toBe(403);
    expect((await as(token, `${path}/test`, { method: 'POST', body: '{}' })).status).toBe(403);
    const other = await as(gateway.operatorToken, path, { method: 'DELETE' }, 'other');
    expect(other.status).toBe(404);
    expect(receiver.received).toEqual([]);
  });

  it('sends nonsense is told which field is wrong', async () => {
    const rule = await gateway.operator('POST', '/v1/alert-rules', {
      name: 'x',
      type: 'budget',
      threshold: 7,
      extra: 1,
    });
    expect(rule).toMatchObject({ status: 422, body: { reason: 'invalid_fields' } });
    expect(rule.body.fields.sort()).toEqual(['extra', 'threshold']);
    const channel = await gateway.operator('POST', '/v1/alert-channels', {
      kind: 'webhook',
      name: 'x',
      url: 'ftp://x',
    });
    expect(channel).toMatchObject({ status: 422, body: { fields: ['url'] } });
  });
});
