import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { beforeEach, expect, test, vi } from 'vitest';
import { deferred } from '#kernel';
import { FastLane, openFastLane } from './fast-lane.js';
import type { PlainAnswer } from './plain-message.js';

const REQUEST = 'POST /v1/decision-logs HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';
const TAKEN: PlainAnswer = { status: 202, text: '{"status":"accepted"}', headers: [] };
const IDLE_MS = 72_000;
const FIRST_REQUEST_MS = 60_000;

let handedOver: Socket[];
let readByNode: string;
let asked: string[];
let answer: () => Promise<PlainAnswer>;
let lane: FastLane;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
  handedOver = [];
  readByNode = '';
  asked = [];
  answer = async () => TAKEN;
  lane = new FastLane({
    routes: [
      {
        path: '/v1/decision-logs',
        bodyBytesMax: 10,
        answer: (_head, body) => {
          asked.push(body.toString());
          return answer();
        },
      },
    ],
    handOver: (socket) => {
      handedOver.push(socket);
      socket.on('data', (bytes) => (readByNode += bytes));
    },
    idleMs: IDLE_MS,
    firstRequestMs: FIRST_REQUEST_MS,
    tellLate: (socket) => socket.destroy(),
    isListening: () => true,
  });
  return () => vi.useRealTimers();
});

/** A connection in memory, and what was written to it. @param take what is written last is taken when it calls back */
function connection(take: (taken: () => void) => void = (taken) => taken()) {
  const written: string[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      take(done);
    },
  }) as Socket;
  return { socket, written };
}

/** With the lane in front. Says why it refuses somebody, and nothing else. */
function nodeServer(options: ServerOptions = {}): Server {
  const server = createServer(options);
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    socket.write(String(code));
    socket.destroy();
  });
  openFastLane(server, { routes: [], idleMs: IDLE_MS, firstRequestMs: FIRST_REQUEST_MS });
  return server;
}

/** Of the event loop, and the end of it, when what was read is worked on. */
async function turn() {
  for (const _part of ['reads', 'works']) await new Promise((resolve) => setImmediate(resolve));
}

test('a connection that waits too long is closed: for its first request sooner than for its next', async () => {
  const [fresh, used] = [connection(), connection()];
  lane.take(fresh.socket);
  lane.take(used.socket);
  used.socket.push(REQUEST);
  await turn();
  expect(used.written).toEqual([expect.stringMatching(/^HTTP\/1\.1 202 Accepted\r\n/)]);
  vi.advanceTimersByTime(FIRST_REQUEST_MS + 5_000);
  expect([fresh.socket.destroyed, used.socket.destroyed]).toEqual([true, false]);
  vi.advanceTimersByTime(IDLE_MS - FIRST_REQUEST_MS);
  expect(used.socket.destroyed).toBe(true);
});

/** On a connection of its own, not answered yet. */
async function slowRequest() {
  const slow = deferred<PlainAnswer>();
  answer = () => slow.promise;
  const { socket, written } = connection();
  lane.take(socket);
  socket.push(REQUEST);
  await turn();
  return { slow, socket, written };
}

test('a request that takes its time is waited for', async () => {
  const { slow, socket, written } = await slowRequest();
  vi.advanceTimersByTime(10 * IDLE_MS);
  expect(socket.destroyed).toBe(false);
  slow.resolve(TAKEN);
  await turn();
  expect(written).toHaveLength(1);
});

test('a body beyond the bound, and what is no request of the lane, is handed over with every byte', async () => {
  const others = [
    REQUEST.replace('Length: 2', 'Length: 11').replace('{}', '{"a":"bcd"}'),
    'GET / HTTP/1.1\r\n\r\n',
    '\0',
  ];
  for (const other of others) {
    const { socket } = connection();
    lane.take(socket);
    socket.push(other);
    await turn();
    expect(handedOver.at(-1)).toBe(socket);
  }
  expect(readByNode).toBe(others.join(''));
  expect(asked).toEqual([]);
});

test('once it is closed, those that wait end, the answer under way is the last, and newcomers are handed over', async () => {
  const slow = deferred<PlainAnswer>();
  answer = () => slow.promise;
  const [waiting, answered, newcomer] = [connection(), connection(), connection()];
  lane.take(waiting.socket);
  lane.take(answered.socket);
  answered.socket.push(REQUEST);
  await turn();
  lane.close();
  expect([waiting.socket.destroyed, answered.socket.destroyed]).toEqual([true, false]);
  slow.resolve(TAKEN);
  await turn();
  expect(answered.written[0]).toContain('Connection: close\r\n');
  // Though its client has not ended its half.
  expect(answered.socket.destroyed).toBe(true);
  lane.take(newcomer.socket);
  expect(handedOver).toEqual([newcomer.socket]);
});

test('who reads nothing of a large answer is asked nothing more, and is closed in the end', async () => {
  answer = async () => ({ ...TAKEN, text: JSON.stringify('x'.repeat(1_000_000)) });
  const { socket, written } = connection(() => {});
  lane.take(socket);
  for (let count = 0; count < 100; count += 1) {
    socket.push(REQUEST);
    await turn();
  }
  expect(asked).toHaveLength(1);
  expect(written).toHaveLength(1);
  vi.advanceTimersByTime(IDLE_MS + 5_000);
  expect(socket.destroyed).toBe(true);
});

test('who reads a large answer late is asked on then', async () => {
  answer = async () => ({ ...TAKEN, text: JSON.stringify('x'.repeat(1_000_000)) });
  const taken: (() => void)[] = [];
  const { socket } = connection((done) => taken.push(done));
  lane.take(socket);
  socket.push(REQUEST);
  await turn();
  socket.push(REQUEST);
  await turn();
  expect(asked).toHaveLength(1);
  taken[0]?.();
  await turn();
  expect(asked).toHaveLength(2);
});

test('a request behind another is handed over after its answer, and so is the end of what its client sends', async () => {
  const { slow, socket, written } = await slowRequest();
  socket.push(REQUEST);
  socket.push(null);
  await turn();
  expect(handedOver).toEqual([]);
  const ended = once(socket, 'end');
  slow.resolve(TAKEN);
  await ended;
  expect(written).toEqual([expect.stringContaining('Connection: keep-alive\r\n')]);
  expect([handedOver, readByNode]).toEqual([[socket], REQUEST]);
});

test('a connection on which nothing comes is refused as Node does it', async () => {
  const { socket, written } = connection();
  nodeServer().emit('connection', socket);
  vi.advanceTimersByTime(FIRST_REQUEST_MS);
  await turn();
  expect(written).toEqual([]);
  vi.advanceTimersByTime(5_000);
  await turn();
  expect(written).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
  expect(socket.destroyed).toBe(true);
});

test('half a head is waited for as long as Node does it', async () => {
  const { socket, written } = connection();
  const server = nodeServer({ headersTimeout: 20, requestTimeout: 30, connectionsCheckingInterval: 5 });
  // From then on Node looks at its connections.
  server.emit('listening');
  server.emit('connection', socket);
  socket.push(REQUEST.slice(0, 20));
  await once(socket, 'close');
  expect(written).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
});
