/** What becomes of a connection on which an answer ends that its client has not taken. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeUnlessTaken } from '../../../apps/gateway/src/llm-proxy/answers/client-pace.js';

const STALL_MS = 200;
/** More than the kernel keeps for a client that does not read. */
const LARGE = Buffer.alloc(25_000_000, 'x');
const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

let answers: ServerResponse[];
/** Answers the first request alone. */
const server = createServer((_request, response) => {
  if (answers.push(response) > 1) return;
  response.write(LARGE);
  closeUnlessTaken(response, STALL_MS);
  response.end('the end');
});
beforeEach(async () => {
  answers = [];
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});
const client = () => connect((server.address() as AddressInfo).port, '127.0.0.1');

test('it closes when its client reads nothing of it', async () => {
  const connected = once(server, 'connection');
  const socket = client();
  socket.write(REQUEST);
  const [served] = await connected;
  await expect.poll(() => served.destroyed).toBe(true);
  expect(served.bytesWritten).toBeGreaterThan(socket.bytesRead);
  socket.destroy();
});

test('it is as before once its client has read it: an answer behind it may take its time', async () => {
  const connected = once(server, 'connection');
  const socket = client().resume();
  socket.write(REQUEST + REQUEST);
  const [served] = await connected;
  await expect.poll(() => answers.length).toBe(2);
  await expect.poll(() => served.timeout).toBe(0);
  expect(served.destroyed).toBe(false);
  socket.destroy();
});
