/** A fleet that comes back at once while the gateway stands still for a moment: the system keeps its connections until it is looked at. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway();

const COUNT = 900;
const SYSTEM_MAX = '/proc/sys/net/core/somaxconn';
const systemMax = process.platform === 'linux' ? Number(readFileSync(SYSTEM_MAX, 'utf8')) : 0;

const sockets: Socket[] = [];
afterEach(() => {
  gateway.process.kill('SIGCONT');
  for (const socket of sockets) socket.destroy();
});

test.skipIf(systemMax < COUNT)(
  'all connections that come in one moment are taken, and answered',
  async () => {
    gateway.process.kill('SIGSTOP');
    const port = Number(new URL(gateway.url).port);
    const connected = Array.from({ length: COUNT }, () => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      return new Promise<void>((settle, fail) => socket.once('connect', settle).once('error', fail));
    });
    await Promise.all(connected);
    const answers = sockets.map((socket) => {
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
      return new Promise<string>((settle, fail) => {
        socket.once('data', (bytes) => settle(bytes.toString().slice(0, 15))).once('error', fail);
      });
    });
    gateway.process.kill('SIGCONT');
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
  },
);
