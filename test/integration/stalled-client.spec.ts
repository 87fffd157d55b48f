/** A client that asks and never reads, here a stranger: what waits for it does not wait for ever. */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway(() => ({ UPSTREAM_IDLE_TIMEOUT_MS: '300' }));

let socket: Socket;
afterEach(() => socket.destroy());

/** Together more than the kernels of both sides keep for who does not read. */
const REQUEST_COUNT = 1_000;

test('who reads no answers is closed', async () => {
  const page = await (await fetch(gateway.url)).text();
  const [script] = /\/assets\/[^"]+\.js/.exec(page) as RegExpExecArray;
  socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').pause();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  const ask = () => socket.write(`GET ${script} HTTP/1.1\r\nHost: a\r\n\r\n`);
  for (let count = 0; count < REQUEST_COUNT; count += 1) ask();
  // Without a word from the client its system would not tell it that the other side is gone.
  const asking = setInterval(ask, 100);
  await closed;
  clearInterval(asking);
  expect(socket.destroyed).toBe(true);
});
