/** How many sockets one key or operator token may hold, against a real gateway. */
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENT_KEY, OPERATOR_TOKEN, type RunningGateway, startGateway } from './start-gateway.js';

/** Of Engine.IO's messages in one body. */
const PACKET_SEPARATOR = '\x1e';

let gateway: RunningGateway;
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway({ env: { SOCKETS_PER_CREDENTIAL_MAX: '2' } });
});
afterAll(async () => {
  for (const socket of sockets) socket.disconnect();
  expect(await gateway.stop()).toBe(0);
});

/** `in`, or the code of the refusal. */
function connect(namespace: string, auth: Record<string, string>): Promise<string> {
  const socket = io(gateway.url + namespace, {
    auth,
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
  });
  sockets.push(socket);
  return new Promise((settle) => {
    socket.once('connect', () => settle('in'));
    socket.once('connect_error', (error: Error & { data?: { reason: string } }) =>
      settle(error.data?.reason ?? error.message),
    );
  });
}

describe.each([
  ['an agent key', '/agents', '/v1/agent-keys', { name: 'another' }, { key: AGENT_KEY }, 'key'],
  [
    'an operator token',
    '/live',
    '/v1/operators',
    { name: 'another', role: 'viewer' },
    { token: OPERATOR_TOKEN },
    'token',
  ],
] as const)('%s', (_, namespace, path, another, leaked, secretName) => {
  const open = () => sockets.filter((socket) => socket.connected && socket.auth === leaked);

  test('holds so many sockets and no more, keeps those it has, and takes no place of another', async () => {
    const { body } = await gateway.operator('POST', path, another);
    expect(await connect(namespace, leaked)).toBe('in');
    expect(await connect(namespace, leaked)).toBe('in');
    expect(await connect(namespace, leaked)).toBe('too_many_sockets');
    expect(await connect(namespace, { [secretName]: body.secret })).toBe('in');
    expect(open()).toHaveLength(2);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain(`observatory_sockets_refused_total{namespace="${namespace}"} 1`);
  });

  test('has a place again for one that it closed', async () => {
    open()[0]?.disconnect();
    await expect.poll(() => connect(namespace, leaked)).toBe('in');
    expect(await connect(namespace, leaked)).toBe('too_many_sockets');
  });
});

/** A connection of Engine.IO that polls: the URL of all its requests. */
async function openPolling(): Promise<string> {
  const transport = `${gateway.url}/socket.io/?EIO=4&transport=polling`;
  const opened = await (await fetch(transport)).text();
  return `${transport}&sid=${JSON.parse(opened.slice(1)).sid}`;
}

const askWith = (key: string): string => `40/agents,${JSON.stringify({ key })}`;

const post = (connection: string, ...packets: string[]) =>
  fetch(connection, { method: 'POST', body: packets.join(PACKET_SEPARATOR) });

test('a connection that asks for many sockets in one breath gets no more', async () => {
  const { body } = await gateway.operator('POST', '/v1/agent-keys', { name: 'in one breath' });
  const connection = await openPolling();
  await post(connection, ...Array(5).fill(askWith(body.secret)));
  const answers = (await (await fetch(connection)).text()).split(PACKET_SEPARATOR);
  expect(answers.filter((answer) => answer.startsWith('40/agents'))).toHaveLength(2);
  expect(answers.filter((answer) => answer.includes('too_many_sockets'))).toHaveLength(3);

  expect(await connect('/agents', { key: body.secret })).toBe('too_many_sockets');
  await post(connection, '1');
  await expect.poll(() => connect('/agents', { key: body.secret })).toBe('in');
});

test('a connection has a place again for each socket that left', async () => {
  const { body } = await gateway.operator('POST', '/v1/agent-keys', { name: 'comes and goes' });
  const connection = await openPolling();
  for (let count = 0; count < 4; count += 1) {
    await post(connection, askWith(body.secret));
    expect(await (await fetch(connection)).text()).toContain('40/agents,{"sid"');
    await post(connection, '41/agents,');
  }
  for (const answer of ['in', 'in', 'too_many_sockets'])
    expect(await connect('/agents', { key: body.secret })).toBe(answer);
});

test('a connection that ends in the breath in which it asked for a socket has taken no place', async () => {
  const { body } = await gateway.operator('POST', '/v1/agent-keys', { name: 'does not wait' });
  for (let count = 0; count < 4; count += 1) await post(await openPolling(), askWith(body.secret), '1');
  for (const answer of ['in', 'in', 'too_many_sockets'])
    expect(await connect('/agents', { key: body.secret })).toBe(answer);
});

test('a stranger is told by code that it is one', async () => {
  expect(await connect('/agents', { key: 'wrong' })).toBe('unauthorized');
  expect(await connect('/live', { token: 'wrong' })).toBe('unauthorized');
});
