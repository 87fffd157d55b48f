/** How many connections of Socket.IO are kept of those who were not let in, against a real gateway: by polling they take nothing but memory. */
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { io } from 'socket.io-client';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { AGENT_KEY } from './start-gateway.js';
import { gateway, startOneGateway } from './start-one-gateway.js';

const TRANSPORT = '/socket.io/?EIO=4&transport=polling';
const AT_ONCE = 50;

startOneGateway();

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const poll = (query = ''): Promise<string> =>
  new Promise((settle, fail) => {
    get(gateway.url + TRANSPORT + query, { agent }, (answer) => text(answer).then(settle, fail)).on(
      'error',
      fail,
    );
  });
const post = (sid: string, body: string) =>
  fetch(`${gateway.url}${TRANSPORT}&sid=${sid}`, { method: 'POST', body });
/** @returns its id */
const open = async (): Promise<string> => JSON.parse((await poll()).slice(1)).sid;

async function openMany(count: number): Promise<void> {
  for (let opened = 0; opened < count; opened += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, open));
}
const letIn = async (sid: string): Promise<void> => {
  await post(sid, `40/agents,${JSON.stringify({ key: AGENT_KEY })}`);
  expect(await poll(`&sid=${sid}`)).toMatch(/^40\/agents,/);
};
const UNKNOWN = /Session ID unknown/;

describe('of connections that nobody let in', () => {
  test('the oldest makes room for the newest, which is let in as ever, and none that is in is cut', async () => {
    const socket = io(`${gateway.url}/agents`, { auth: { key: AGENT_KEY } });
    await expect.poll(() => socket.connected).toBe(true);
    let isCut = false;
    socket.once('disconnect', () => (isCut = true));

    const oldest = await open();
    await openMany(LIMITS.strangerConnectionsMax);
    expect(await poll(`&sid=${oldest}`)).toMatch(UNKNOWN);
    await letIn(await open());

    await socket.emitWithAck('watch_control', { session_id: 'still-in' });
    expect(isCut).toBe(false);
    socket.disconnect();
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/^observatory_socket_strangers_cut_total [1-9]/m);
  });

  test('one that has left its namespace is one again', async () => {
    const left = await open();
    await letIn(left);
    await post(left, '41/agents,');
    await openMany(LIMITS.strangerConnectionsMax);
    expect(await poll(`&sid=${left}`)).toMatch(UNKNOWN);
  });

  test('one that is in a second namespace is none when it leaves the first', async () => {
    const sid = await open();
    await letIn(sid);
    const { operatorToken } = gateway;
    await post(sid, `40/live,${JSON.stringify({ token: operatorToken })}`);
    expect(await poll(`&sid=${sid}`)).toMatch(/^40\/live,/);
    await post(sid, '41/agents,');
    await openMany(LIMITS.strangerConnectionsMax);
    await post(sid, '42/live,1["unsubscribe",{}]');
    expect(await poll(`&sid=${sid}`)).toContain('43/live,1');
  });
});
