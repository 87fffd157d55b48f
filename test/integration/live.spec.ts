/** Live topics over real sockets: who gets in, what a subscriber starts from, who is cut. */
import { fileURLToPath } from 'node:url';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ERRORS, type ErrorAnswer, type Frame, LIMITS, type SubscribeAck } from '#contracts';
import { buildDecisionLog } from '#testing';
import { type RunningGateway, startGateway } from './start-gateway.js';

/** Of another origin, which is set as one of ours. */
const OTHER_PAGE = 'https://board.example';

let gateway: RunningGateway;
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    env: { LIVE_SUBSCRIBER_BYTES_MAX: String(256 * 1024), OBSERVATORY_ALLOWED_ORIGINS: OTHER_PAGE },
  });
});
afterAll(async () => {
  for (const socket of sockets) socket.disconnect();
  await gateway.stop();
});

const connect = (
  namespace: string,
  auth: Record<string, string>,
  headers: Record<string, string> = {},
  { url } = gateway,
): Socket => {
  const socket = io(url + namespace, {
    auth,
    extraHeaders: headers,
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
  });
  sockets.push(socket);
  return socket;
};
const operator = () => connect('/live', { token: gateway.operatorToken });
const refused = (socket: Socket): Promise<Error> =>
  new Promise((settle, fail) => {
    socket.once('connect_error', settle);
    socket.once('connect', () => fail(new Error('was let in')));
  });
const subscribe = (socket: Socket, topic: string, after_seq?: number): Promise<SubscribeAck<any, any>> =>
  socket.emitWithAck('subscribe', { topic, after_seq });
const nextFrame = (socket: Socket, topic: string): Promise<Frame<any>> =>
  new Promise((settle) => {
    const onFrame = (frame: Frame) => {
      if (frame.topic !== topic) return;
      socket.off('frame', onFrame);
      settle(frame);
    };
    socket.on('frame', onFrame);
  });

let serial = 0;
const step = (session_id: string, overrides: Record<string, unknown> = {}) => {
  serial += 1;
  return buildDecisionLog({ meta: { trace_id: `live-${serial}`, session_id }, ...overrides } as never);
};
const loop = async (session: string) => {
  for (let count = 0; count < 5; count += 1) await gateway.ingest(step(session));
};

describe('access', () => {
  test('is refused before connection without a token, with a wrong one, and with an agent key', async () => {
    const saidTo = async (namespace: string, auth: Record<string, string>) => {
      const error = (await refused(connect(namespace, auth))) as Error & { data?: ErrorAnswer };
      return [error.data?.reason, error.message];
    };
    for (const auth of [{}, { token: 'wrong' }] as Record<string, string>[])
      expect(await saidTo('/live', auth)).toEqual([
        'unauthorized',
        'Sign in, or send a valid operator token in the handshake: auth: { token: <operator token> }. An administrator makes operator tokens under Settings > Operators.',
      ]);
    const { body } = await gateway.operator('POST', '/v1/operators', { name: 'of-one', role: 'viewer' });
    for (const [token, tenant_id] of [
      [gateway.agentKey, 'default'],
      [body.secret, 'foreign'],
    ] as [string, string][]) {
      const headers = { authorization: `Bearer ${token}`, 'x-tenant-id': tenant_id };
      const overHttp: any = await (await fetch(`${gateway.url}/v1/auth/me`, { headers })).json();
      expect(await saidTo('/live', { token, tenant_id })).toEqual(['forbidden', overHttp.detail]);
    }
    const wanted = (how: string) =>
      `Send a valid agent key${how}. An operator token or a vendor's key does not work here. An administrator makes agent keys under Settings > Agent keys.`;
    const overHttp: any = await (await fetch(`${gateway.url}/v1/decision-logs`, { method: 'POST' })).json();
    expect(overHttp.detail).toBe(wanted(': Authorization: Bearer <agent key>'));
    for (const auth of [{}, { key: 'wrong' }, { key: gateway.operatorToken }] as Record<string, string>[])
      expect(await saidTo('/agents', auth)).toEqual([
        'unauthorized',
        wanted(' in the handshake: auth: { key: <agent key> }'),
      ]);
  });

  test('is refused on a namespace that nobody serves: a stranger would have a socket for as long as it likes', async () => {
    for (const auth of [{}, { token: gateway.operatorToken }])
      expect((await refused(connect('/', auth as Record<string, string>))).message).toContain('/live');
  });

  test('is refused to a foreign origin, whatever it knows', async () => {
    const origin = 'https://evil.example';
    await refused(connect('/live', { token: gateway.operatorToken }, { origin }));
    const polling = await fetch(`${gateway.url}/socket.io/?EIO=4&transport=polling`, { headers: { origin } });
    expect(await polling.json()).toMatchObject({ message: ERRORS.origin_refused.text });
  });

  test('is given to the page of an origin that is set, whose browser lets it read what it polls', async () => {
    const headers = { origin: OTHER_PAGE };
    const polling = await fetch(`${gateway.url}/socket.io/?EIO=4&transport=polling`, { headers });
    expect(polling.status).toBe(200);
    expect(polling.headers.get('access-control-allow-origin')).toBe(OTHER_PAGE);
    expect(polling.headers.get('access-control-allow-credentials')).toBe('true');
  });

  test('ends when the token is revoked', async () => {
    const { body } = await gateway.operator('POST', '/v1/operators', { name: 'temp', role: 'viewer' });
    const socket = connect('/live', { token: body.secret });
    await new Promise((settle) => socket.once('connect', () => settle(null)));
    const gone = new Promise((settle) => socket.once('disconnect', settle));
    await gateway.operator('DELETE', `/v1/operators/${body.operator.token_id}`);
    await gone;
  });

  test('ends when the login has had its thirty days', async () => {
    const clock = fileURLToPath(new URL('./month-later.mjs', import.meta.url));
    const aging = await startGateway({ env: { NODE_OPTIONS: `--import ${clock}` } });
    onTestFinished(async () => void (await aging.stop()));
    const login = await fetch(`${aging.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: aging.url },
      body: JSON.stringify({ token: aging.operatorToken, operator_id: 'ada' }),
    });
    const cookie = String(login.headers.get('set-cookie')).split(';')[0] as string;
    const socket = connect('/live', {}, { cookie, origin: aging.url }, aging);
    await new Promise((settle) => socket.once('connect', () => settle(null)));
    const cut = new Promise((settle) => socket.once('cut', settle));
    aging.process.kill('SIGUSR2');
    expect(await cut).toEqual({ reason: 'unauthorized' });
    expect((await fetch(`${aging.url}/v1/auth/me`, { headers: { cookie } })).status).toBe(401);
  });

  test('keeps tenants apart', async () => {
    const { body: key } = await gateway.operator('POST', '/v1/agent-keys', {
      name: 'red key',
      tenant_id: 'red',
    });
    const red = connect('/live', { token: gateway.operatorToken, tenant_id: 'red' });
    const ack = await subscribe(red, 'gateway:messages');
    await gateway.ingest(step('blue-session'));
    const frame = nextFrame(red, 'gateway:messages');
    await gateway.ingest(step('red-session'), { authorization: `Bearer ${key.secret}` });
    expect((await frame).events.map((event) => event.payload.meta.session_id)).toEqual(['red-session']);
    expect(ack).toMatchObject({ status: 'ok', snapshot: [] });
    expect(await subscribe(red, 'session:blue-session')).toMatchObject({
      status: 'error',
      reason: 'session_not_found',
    });
    expect(await subscribe(operator(), 'session:red-session')).toMatchObject({ status: 'error' });
  });
});

describe('a topic', () => {
  test('starts with a snapshot and goes on with contiguous frames', async () => {
    const socket = operator();
    const session = 'contiguous';
    await gateway.ingest(step(session));
    const ack = await subscribe(socket, 'gateway:messages');
    if (ack.status !== 'ok' || ack.kind !== 'snapshot') throw new Error('no snapshot');
    const frames: Frame[] = [];
    socket.on('frame', (frame: Frame) => frames.push(frame));
    for (let count = 0; count < 30; count += 1) await gateway.ingest(step(session));
    await expect.poll(() => frames.at(-1)?.to_seq, { timeout: 5_000 }).toBe(ack.seq + 30);
    let expected = ack.seq + 1;
    for (const frame of frames) {
      expect(frame.from_seq).toBe(expected);
      expect(frame.events.map((event) => event.seq)).toEqual(
        Array.from({ length: frame.events.length }, (_, index) => frame.from_seq + index),
      );
      expected = frame.to_seq + 1;
    }
  });

  test('gives a reconnecting subscriber what it missed, and a reset for a number it does not know', async () => {
    const first = operator();
    const ack = await subscribe(first, 'gateway:messages');
    if (ack.status !== 'ok') throw new Error(ack.detail);
    first.disconnect();
    await gateway.ingest(step('missed'));
    const second = operator();
    await expect
      .poll(async () => {
        const again = await subscribe(second, 'gateway:messages', ack.seq);
        return again.status === 'ok' && again.kind === 'deltas' ? again.events.length : -1;
      })
      .toBe(1);
    expect(await subscribe(second, 'gateway:messages', ack.seq + 1_000_000)).toMatchObject({ kind: 'reset' });
  });

  test('answers each of several subscriptions at once, and leaves none of them out of the frames', async () => {
    await gateway.ingest(step('twice'));
    const topic = 'session:twice';
    await expect.poll(async () => (await subscribe(operator(), topic)).status, { timeout: 5_000 }).toBe('ok');
    const socket = operator();
    const acks = await Promise.all(
      [1, 2, 3].map(() => socket.timeout(5_000).emitWithAck('subscribe', { topic })),
    );
    expect(acks.map(({ kind }) => kind)).toEqual(['snapshot', 'snapshot', 'snapshot']);
    const frame = nextFrame(socket, topic);
    await gateway.ingest(step('twice'));
    expect((await frame).from_seq).toBe(acks[2].seq + 1);
    await socket.emitWithAck('unsubscribe', { topic });
    const last = socket.timeout(5_000).emitWithAck('subscribe', { topic });
    socket.emit('unsubscribe', { topic });
    expect(['ok', 'error']).toContain((await last).status);
  });

  test('[FR-9.10+] announces a loop at once on gateway:entropy_alerts, and the snapshot keeps one group a session', async () => {
    const socket = operator();
    await subscribe(socket, 'gateway:entropy_alerts');
    const frame = nextFrame(socket, 'gateway:entropy_alerts');
    await loop('loops');
    expect((await frame).events[0]?.payload).toMatchObject({
      event_type: 'entropy_alert',
      session_id: 'loops',
      agent_id: 'agent-1',
      entropy_score: 0.2,
      window_size: 5,
      occurrence_count: 5,
      repeated_pattern: { intent: 'search', tool_call: 'read_file', action_status: 'success' },
    });
    await gateway.ingest(step('loops'));
    const ack = await subscribe(operator(), 'gateway:entropy_alerts');
    if (ack.status !== 'ok' || ack.kind === 'deltas') throw new Error('no snapshot');
    expect(ack.snapshot.filter((group: any) => group.session_id === 'loops')).toMatchObject([
      { alert_count: 2 },
    ]);
  });

  test('tells whoever has a session open of each of its alerts, as a page that opens it then has them', async () => {
    const topic = 'session:open-loops';
    const socket = operator();
    await gateway.ingest(step('open-loops'));
    await subscribe(socket, topic);
    const told: any[] = [];
    socket.on('frame', ({ events }: Frame<any>) =>
      told.push(...events.map(({ payload }) => payload).filter(({ kind }) => kind === 'alert')),
    );
    await loop('open-loops');
    await gateway.ingest(step('open-loops'));
    await expect.poll(() => told.at(-1)).toMatchObject({ alert: { alert_count: 3 } });
    const ack = await subscribe(operator(), topic);
    if (ack.status !== 'ok' || ack.kind === 'deltas') throw new Error('no snapshot');
    expect(told.at(-1).alert).toEqual(ack.snapshot.alert);
  });

  test('opens a session on the window that its score is of: steps that are held come in once they are released', async () => {
    const ingest = (intent: string) => gateway.ingest(step('window', { cognition: { intent } }));
    const opened = async () => {
      const ack = await subscribe(operator(), 'session:window');
      if (ack.status !== 'ok' || ack.kind === 'deltas') throw new Error('no snapshot');
      const { session, window, held } = ack.snapshot;
      return [session.entropy_score, window.map(({ intent }: any) => intent), held.length];
    };
    await ingest('search');
    await gateway.operator('POST', '/v1/sessions/window/pause', { reason: 'look' });
    await ingest('search');
    expect(await opened()).toEqual([1, ['search'], 1]);
    await gateway.operator('POST', '/v1/sessions/window/resume');
    expect(await opened()).toEqual([0.5, ['search', 'search'], 0]);
  });

  test('[FR-9.4+] turns the node red on gateway:topology, and a violation turns it orange', async () => {
    const stateOf = async (sessionId: string) => {
      const ack = await subscribe(operator(), 'gateway:topology');
      if (ack.status !== 'ok' || ack.kind === 'deltas') throw new Error('no snapshot');
      return ack.snapshot.nodes.find((node: any) => node.session_id === sessionId)?.state;
    };
    const identity = { agent_id: 'red-then-orange' };
    for (let count = 0; count < 5; count += 1) await gateway.ingest(step('topology', { identity }));
    await expect.poll(() => stateOf('topology')).toBe('alert_entropy');
    await gateway.ingest({ identity });
    await expect.poll(() => stateOf('topology')).toBe('schema_violation');
  });

  test('are refused beyond fifty at once, so that one socket does not take all reads of the store', async () => {
    await gateway.ingest(step('flooded'));
    const topic = 'session:flooded';
    await expect.poll(async () => (await subscribe(operator(), topic)).status, { timeout: 5_000 }).toBe('ok');
    const socket = operator();
    const acks = await Promise.all(Array.from({ length: 3_000 }, () => subscribe(socket, topic)));
    const reasons = new Set(acks.map((ack) => (ack.status === 'error' ? ack.reason : ack.kind)));
    expect(reasons).toContain('rate_limited');
    // The store was never busy.
    expect(reasons).not.toContain('internal_error');
    expect(reasons).not.toContain('store_busy');
    expect(await subscribe(socket, topic)).toMatchObject({ status: 'ok' });
  });

  test('that does not exist is refused with its name', async () => {
    expect(await subscribe(operator(), 'gateway:nonsense')).toMatchObject({
      status: 'error',
      reason: 'not_found',
    });
    expect(await operator().emitWithAck('subscribe', { topic: 5 })).toMatchObject({
      reason: 'invalid_fields',
    });
  });
});

describe('a subscriber that stops reading', () => {
  test('is cut, while the others go on', async () => {
    const frozen = operator();
    const healthy = operator();
    await subscribe(frozen, 'gateway:messages');
    await subscribe(healthy, 'gateway:messages');
    // The browser equivalent of a suspended laptop: the TCP window fills, nothing is read.
    (frozen.io.engine as any).transport.ws._socket.pause();
    const filler = 'x'.repeat(60_000);
    const lines = () =>
      Array.from({ length: 50 }, () =>
        JSON.stringify(step('flood', { action: { tool_output_summary: filler } })),
      );
    await expect
      .poll(
        async () => {
          await gateway.ingest(lines().join('\n'), { 'content-type': 'application/x-ndjson' });
          return gateway.output();
        },
        { timeout: 20_000, interval: 10 },
      )
      .toContain('consumer_too_slow');
    const seen: string[] = [];
    healthy.on('frame', ({ events }) =>
      seen.push(...events.map(({ payload }: any) => payload.meta.session_id)),
    );
    await gateway.ingest(step('after the cut'));
    await expect.poll(() => seen).toContain('after the cut');
    expect(healthy.connected).toBe(true);
  });
});

describe('an agent on /agents', () => {
  test('gets an acknowledgement equal to the HTTP answer', async () => {
    const socket = connect('/agents', { key: gateway.agentKey });
    const log = step('by-socket');
    const answer = await socket.emitWithAck('decision_log', log);
    expect(answer).toMatchObject({
      status: 'accepted',
      session_id: 'by-socket',
      entropy: { window_size: 1 },
    });
    expect(await (await gateway.ingest(log)).json()).toStrictEqual(answer);
    expect(await socket.emitWithAck('decision_log', { nonsense: true })).toMatchObject({
      status: 'rejected',
    });
    expect(await socket.timeout(5_000).emitWithAck('decision_log')).toMatchObject({
      detail: 'expected a JSON object, got nothing',
    });
    expect(await socket.emitWithAck('decision_log', [step('by-socket'), 7])).toMatchObject({
      results: [{ status: 'accepted' }, { status: 'rejected' }],
    });
    const many = step('by-socket', {
      action: { tool_input: { many: new Array(LIMITS.jsonValuesMax + 1).fill(0) } },
    });
    expect(await socket.emitWithAck('decision_log', many)).toMatchObject({ reason: 'payload_too_large' });
  });

  test('ends when its key is revoked; that another one is, is no use of it', async () => {
    const make = async (name: string) => (await gateway.operator('POST', '/v1/agent-keys', { name })).body;
    const [mine, other] = [await make('mine'), await make('other')];
    const revoke = ({ key }: any) => gateway.operator('DELETE', `/v1/agent-keys/${key.key_id}`);
    const lastUsed = async () =>
      (await gateway.operator('GET', '/v1/agent-keys')).body.items.find(
        ({ key_id }: any) => key_id === mine.key.key_id,
      ).last_used_at_ms;
    const socket = connect('/agents', { key: mine.secret });
    await new Promise((settle) => socket.once('connect', () => settle(null)));
    const gone = new Promise((settle) => socket.once('disconnect', settle));
    const cuts: unknown[] = [];
    socket.on('cut', (why) => cuts.push(why));
    const atConnect = await lastUsed();
    await revoke(other);
    expect(await lastUsed()).toBe(atConnect);
    expect(socket.connected).toBe(true);
    await revoke(mine);
    await gone;
    expect(cuts).toEqual([{ reason: 'unauthorized' }]);
  });

  test('is refused a batch in the words in which HTTP refuses it', async () => {
    const socket = connect('/agents', { key: gateway.agentKey });
    for (const batch of [[], Array(5_001).fill({})]) {
      const overHttp = await (await gateway.ingest(batch)).json();
      expect(await socket.emitWithAck('decision_log', batch)).toEqual(overHttp);
    }
  });

  test('hears a pause at once, and its acknowledgement is seen', async () => {
    const socket = connect('/agents', { key: gateway.agentKey });
    await socket.emitWithAck('decision_log', step('pushed'));
    const control = new Promise<any>((settle) =>
      socket.once('control', (message, acknowledge) => {
        acknowledge();
        settle(message);
      }),
    );
    await gateway.operator('POST', '/v1/sessions/pushed/pause', { reason: 'look' });
    expect(await control).toMatchObject({ session_id: 'pushed', state: 'paused' });
    const state = async () => (await gateway.operator('GET', '/v1/sessions/pushed')).body.control;
    await expect.poll(async () => (await state()).state).toBe('paused');
    expect((await state()).mode).toBe('cooperative');
  });
});
