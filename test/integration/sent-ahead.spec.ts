/** What a connection may send ahead of the answers to what it asked before, against a real gateway: without a key, too. */
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { SENT_AHEAD_MAX } from '../../apps/gateway/src/sent-ahead.js';
import { AGENT_KEY } from './start-gateway.js';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway();

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
/** Answered when somebody gives the session a command, or much later. */
const poll = (session: string): string =>
  get(`/v1/sessions/${session}/control?wait_s=50`, `authorization: Bearer ${AGENT_KEY}\r\n`);

/** Sends a poll, and behind it the others. Resolves when the gateway has seen the poll. */
async function behindPoll(session: string, requests: readonly string[]): Promise<Socket> {
  await gateway.ingest(buildDecisionLog({ meta: { session_id: session } }));
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  sockets.push(socket);
  socket.write(poll(session) + requests.join(''));
  await expect.poll(metrics).toMatch(/^observatory_hitl_polls_hanging 1$/m);
  return socket;
}
const metrics = async (): Promise<string> => (await fetch(`${gateway.url}/metrics`)).text();
const isEnded = async (socket: Socket): Promise<void> => {
  socket.destroy();
  await expect.poll(metrics).toMatch(/^observatory_hitl_polls_hanging 0$/m);
};
const openAssets = (): string[] => {
  const folder = `/proc/${gateway.process.pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      const path = readlinkSync(`${folder}/${name}`);
      return path.includes('/dashboard/assets/') ? [path] : [];
    } catch {
      return [];
    }
  });
};

describe('of what is sent ahead', () => {
  test('no file is open before its turn, nor when the connection has ended', async () => {
    const page = await (await fetch(gateway.url, { headers: { accept: 'text/html' } })).text();
    const asset = /\/assets\/[^"]+\.js/.exec(page)?.[0] as string;
    const socket = await behindPoll(
      'files',
      Array.from({ length: 20 }, () => get(asset)),
    );
    expect(openAssets()).toEqual([]);
    await isEnded(socket);
    expect(openAssets()).toEqual([]);
  });

  test('each is answered when its turn has come', async () => {
    const ahead = Array.from({ length: SENT_AHEAD_MAX }, () => get('/healthz'));
    const socket = await behindPoll('turns', ahead);
    let seen = '';
    socket.on('data', (bytes) => (seen += bytes));
    await gateway.operator('POST', '/v1/sessions/turns/pause', { reason: 'r' });
    await expect.poll(() => seen.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(SENT_AHEAD_MAX + 1);
  });

  test('there is so much and no more: then the connection is closed', async () => {
    const socket = await behindPoll('bound', []);
    const closed = once(socket.resume(), 'close');
    socket.write(Array.from({ length: SENT_AHEAD_MAX + 1 }, () => get('/healthz')).join(''));
    await closed;
    await expect.poll(metrics).toMatch(/^observatory_hitl_polls_hanging 0$/m);
  });
});
