/** What Socket.IO brings counts with all bodies under way: who never ends a message holds its tenant's share at most. */
import { once } from 'node:events';
import { type Socket as Connection, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { io, type Socket } from 'socket.io-client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { writeStalledBody } from './stalled-body.js';
import { AGENT_KEY, type RunningGateway, startGateway } from './start-gateway.js';

let gateway: RunningGateway;
const connections: Connection[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway({ env: { LIVE_SUBSCRIBER_BYTES_MAX: String(256 * 1024) } });
});
afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy();
  for (const socket of sockets.splice(0)) socket.disconnect();
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
});

const TENANT_BYTES = LIMITS.inflightBytesMax / 2;
const PART_BYTES = LIMITS.bodyBytesMax - 100_000;

function open(): Connection {
  const { port, hostname } = new URL(gateway.url);
  const connection = connect(Number(port), hostname).on('error', () => {});
  connections.push(connection);
  return connection;
}

/** The head of a text frame, with a mask that changes nothing. */
function frameHead(byteCount: number): Buffer {
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x81ff);
  head.writeBigUInt64BE(BigInt(byteCount), 2);
  return head;
}

const frame = (text: string) => Buffer.concat([frameHead(text.length), Buffer.from(text)]);

/** A WebSocket to Engine.IO, past its greeting; in `/agents`, too, if it has a key. */
async function openWebSocket(key?: string): Promise<Connection> {
  const connection = open();
  connection.write(
    [
      'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1',
      'Host: gateway',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      '\r\n',
    ].join('\r\n'),
  );
  await heard(connection, 'pingInterval');
  if (key !== undefined) {
    connection.write(frame(`40/agents,${JSON.stringify({ key })}`));
    await heard(connection, '40/agents');
  }
  return connection;
}

/** A connection of Engine.IO that polls: the URL of all its requests. */
async function openPolling(): Promise<string> {
  const transport = `${gateway.url}/socket.io/?EIO=4&transport=polling`;
  const opened = await (await fetch(transport)).text();
  return `${transport}&sid=${JSON.parse(opened.slice(1)).sid}`;
}

/** Everything that came until then. */
async function heard(connection: Connection, words: string): Promise<string> {
  let all = '';
  for (;;) {
    const [data] = await once(connection, 'data');
    all += data;
    if (all.includes(words)) return all;
  }
}

/** Begins a message of ten megabytes that never ends. */
function begin(connection: Connection): void {
  connection.write(frameHead(LIMITS.bodyBytesMax));
  connection.write(Buffer.alloc(PART_BYTES, 'x'));
}

const makeKey = async (tenant_id: string): Promise<string> =>
  (await gateway.operator('POST', '/v1/agent-keys', { name: tenant_id, tenant_id })).body.secret;

const metric = async (line: RegExp) =>
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(line);

describe('messages that never end', () => {
  test('hold half of the room; whoever begins one more is cut and told why, and another tenant is served', async () => {
    const key = await makeKey('never-ends');
    const senders = await Promise.all(
      Array.from({ length: Math.ceil(TENANT_BYTES / PART_BYTES) + 1 }, () => openWebSocket(key)),
    );
    // One that ends its messages holds nothing behind each.
    const first = await openWebSocket(key);
    const ended = frame(`42/agents,["unheard","${'x'.repeat(PART_BYTES)}"]`);
    for (let count = 0; count <= TENANT_BYTES / PART_BYTES; count += 1)
      first.write(Buffer.concat([ended, frame('42/agents,["unheard"]')]));
    first.write(frame('42/agents,7["watch_control",{}]'));
    await heard(first, '43/agents,7');
    const told = Promise.any(senders.map((sender) => heard(sender, 'too_many_bytes')));
    for (const sender of senders) begin(sender);
    // Nor does it give back what others hold.
    let isTold = false;
    const whenTold = told.finally(() => {
      isTold = true;
    });
    while (!isTold) {
      first.write(frame('42/agents,8["watch_control",{}]'));
      await heard(first, '43/agents,8');
    }
    expect(await whenTold).toContain('42/agents,["cut",{"reason":"too_many_bytes"}]');
    expect((await gateway.ingest(buildDecisionLog())).status).toBe(202);
    await metric(/observatory_socket_messages_refused_total\{reason="too_many_bytes"\} [1-9]/);

    // Whoever hangs up gives back what it had.
    for (const sender of senders) sender.destroy();
    const authorization = `Bearer ${key}`;
    const large = JSON.stringify(buildDecisionLog()) + ' '.repeat(PART_BYTES);
    await expect.poll(async () => (await gateway.ingest(large, { authorization })).status).toBe(202);
  });

  test('are none of a connection that was not let in', async () => {
    const stranger = await openWebSocket();
    const told = heard(stranger, 'payload_too_large');
    begin(stranger);
    await told;
    await once(stranger, 'close');
    await metric(/observatory_socket_messages_refused_total\{reason="payload_too_large"\} [1-9]/);
  });

  test('nor of one that begins with polling, let in or not', async () => {
    const key = await makeKey('polls');
    const connection = await openPolling();
    const post = (body: string) => fetch(connection, { method: 'POST', body });
    const large = `42/agents,0["decision_log",${JSON.stringify([{ padding: 'x'.repeat(100_000) }])}]`;

    const refused = await post(large);
    expect([refused.status, ((await refused.json()) as { reason: string }).reason]).toEqual([
      413,
      'payload_too_large',
    ]);
    expect((await post(`40/agents,${JSON.stringify({ key })}`)).status).toBe(200);
    await fetch(connection);
    // The answer to a ping is no message.
    expect((await post('3')).status).toBe(200);
    expect((await post(large)).status).toBe(200);
    expect(await (await fetch(connection)).text()).toContain('schema_violation');
    // Nor is a packet with attachments taken, which would follow as messages of their own.
    await post('451-/agents,["decision_log",{"_placeholder":true,"num":0}]');
    expect(await (await fetch(connection)).text()).toContain('"unsupported_media_type"');
    await expect.poll(async () => (await fetch(connection)).status).toBe(400);
  });

  test('are none of polling: each body gives back its room', async () => {
    const key = await makeKey('polls-on');
    const connection = await openPolling();
    const post = (body: string) => fetch(connection, { method: 'POST', body });
    expect((await post(`40/agents,${JSON.stringify({ key })}`)).status).toBe(200);
    await fetch(connection);
    const large = `42/agents,["unheard","${'x'.repeat(PART_BYTES)}"]`;
    for (let count = 0; count <= TENANT_BYTES / PART_BYTES; count += 1)
      expect((await post(large)).status).toBe(200);
  });

  test('nor in parts: a packet with attachments ends its connection', async () => {
    const sender = await openWebSocket(AGENT_KEY);
    const told = heard(sender, 'unsupported_media_type');
    sender.write(frame('451-/agents,["decision_log",{"_placeholder":true,"num":0}]'));
    expect(await told).toContain('42/agents,["cut",{"reason":"unsupported_media_type"}]');
    await metric(/observatory_socket_messages_refused_total\{reason="unsupported_media_type"\} 2/);
  });
});

test.each([
  ['under too many names', `{${Array.from({ length: 60_000 }, (_, at) => `"${at}":0`).join(',')}}`],
  ['of too many values', `[${'{},'.repeat(2 * LIMITS.jsonValuesMax)}{}]`],
  ['nested too deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
])('a message %s ends its connection before it is parsed', async (_, message) => {
  const sender = await openWebSocket(AGENT_KEY);
  const told = heard(sender, 'payload_too_large');
  sender.write(frame(`42/agents,0["decision_log",${message}]`));
  expect(await told).toContain('42/agents,["cut",{"reason":"payload_too_large"}]');
});

test('a body of polling holds so many packets; with more it is refused and told why, and its connection ends', async () => {
  const connection = await openPolling();
  const post = (body: string) => fetch(connection, { method: 'POST', body });
  expect((await post(`40/agents,${JSON.stringify({ key: AGENT_KEY })}`)).status).toBe(200);
  await fetch(connection);
  const packet = '42/agents,["unheard"]';
  const packets = (count: number) => Array(count).fill(packet).join('\x1e');

  expect((await post(packets(LIMITS.packetsPerBodyMax))).status).toBe(200);
  const refused = await post(packets(LIMITS.packetsPerBodyMax + 1));
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({
    reason: 'payload_too_large',
    detail: 'One body of polling holds 10000 packets at most.',
  });
  await expect.poll(async () => (await post('3')).status).toBe(400);
  expect((await gateway.ingest(buildDecisionLog())).status).toBe(202);
});

test.each([
  ['an agent', AGENT_KEY, '42/agents,0["watch_control",{}]', '"key_id":"env",'],
  ['a stranger', undefined, `40/${'x'.repeat(1_000)},`, ''],
])('%s that asks on and reads no answer is cut', async (_, key, question, who) => {
  const asking = await openWebSocket(key);
  asking.pause();
  const questions = Buffer.concat(Array(1_000).fill(frame(question)));
  await expect
    .poll(
      () => {
        if (asking.writableLength === 0) asking.write(questions);
        return gateway.output();
      },
      { timeout: 30_000, interval: 5 },
    )
    .toContain(`"event":"consumer_too_slow",${who}"pending_bytes"`);
});

test('a message for which there is no room is answered so, a smaller one is taken', async () => {
  const key = await makeKey('whole');
  const roomLeft = 4_000;
  stallBodies(key, TENANT_BYTES - roomLeft);
  const socket = io(`${gateway.url}/agents`, { auth: { key }, transports: ['websocket'], forceNew: true });
  sockets.push(socket);
  const send = (intent: string) =>
    socket.emitWithAck('decision_log', buildDecisionLog({ cognition: { intent } })) as Promise<{
      reason?: string;
      status: string;
    }>;
  await expect
    .poll(async () => (await send('x'.repeat(roomLeft))).reason, { timeout: 8_000 })
    .toBe('too_many_bytes');
  expect((await send('look')).status).toBe('accepted');
  await metric(/observatory_ingest_refused_total\{reason="too_many_bytes"\} [1-9]/);
});

/** Posts bodies that inflate to so many bytes together, and never ends them. */
function stallBodies(key: string, byteCount: number): void {
  for (let left = byteCount; left > 0; left -= LIMITS.inflatedBytesMax)
    stallBody(key, gzipSync(Buffer.alloc(Math.min(left, LIMITS.inflatedBytesMax), ' ')));
}

function stallBody(key: string, bomb: Buffer): void {
  const connection = open();
  writeStalledBody(connection, key, bomb);
  // An answer: another message had the room at that moment.
  connection.once('data', () => stallBody(key, bomb));
}
