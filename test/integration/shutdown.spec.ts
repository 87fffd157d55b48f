/** SIGTERM: what is under way ends well, and what only waits keeps nobody waiting. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startGateway } from './start-gateway.js';

const connectTo = async (url: string): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

test('connections on which nothing came yet do not delay it', async () => {
  const gateway = await startGateway();
  // As browsers open them, ahead of what they may want.
  const ahead = await Promise.all([connectTo(gateway.url), connectTo(gateway.url)]);
  // One that was used, and is kept for the next request.
  await fetch(`${gateway.url}/healthz`);
  const closed = Promise.all(ahead.map((socket) => once(socket, 'close')));
  expect(await gateway.stop()).toBe(0);
  await closed;
  expect(gateway.output()).not.toContain('drain step did not finish');
});

test('a request under way is answered', async () => {
  const gateway = await startGateway();
  const socket = await connectTo(gateway.url);
  let answer = '';
  socket.on('data', (bytes) => (answer += bytes));
  const body = JSON.stringify({});
  const head = [
    'POST /v1/decision-logs HTTP/1.1',
    'host: localhost',
    `authorization: Bearer ${gateway.agentKey}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 1)}`);
  // Its head has been read once a request that came later was answered.
  await fetch(`${gateway.url}/healthz`);
  const stopped = gateway.stop();
  await expect.poll(() => gateway.output()).toContain('draining');
  const closed = once(socket, 'close');
  socket.write(body.slice(1));
  expect(await stopped).toBe(0);
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 422 /);
  expect(gateway.output()).not.toContain('drain step did not finish');
});
