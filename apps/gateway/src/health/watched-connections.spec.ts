import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { beforeEach, expect, test, vi } from 'vitest';
import { HEAD_WAIT_MS, watchConnections } from './watched-connections.js';

const STALL_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/** A server's connections, of which a test says what they carry. */
function watched() {
  const server = new EventEmitter();
  const closeUnused = watchConnections(server as Server, STALL_MS);
  const connect = (says: Partial<Socket> & { parser?: object; _httpMessage?: object }) => {
    const socket = Object.assign(
      new EventEmitter(),
      { writableLength: 0, bytesWritten: 0, bytesRead: 1 },
      says,
    );
    const destroy = vi.fn(() => socket.emit('close'));
    server.emit('connection', Object.assign(socket, { destroy }));
    return { socket, destroy };
  };
  return { server, connect, closeUnused };
}

const pass = (count: number) => vi.advanceTimersByTime(count * STALL_MS);

test('a connection that carries nothing of what waits for its client is closed', () => {
  const { destroy } = watched().connect({ writableLength: 10, bytesWritten: 10 });
  pass(2);
  expect(destroy).not.toHaveBeenCalled();
  pass(1);
  expect(destroy).toHaveBeenCalledOnce();
});

test('one on which a little of it leaves now and then is kept, and so is one that has nothing to carry', () => {
  const { connect } = watched();
  const slow = connect({ writableLength: 100, bytesWritten: 100 });
  const idle = connect({});
  for (let count = 0; count < 10; count += 1) {
    slow.socket.writableLength -= 1;
    pass(2);
  }
  expect([slow.destroy, idle.destroy].flatMap(({ mock }) => mock.calls)).toEqual([]);
});

test('a server that has closed looks no more', () => {
  const { server, connect } = watched();
  const { destroy } = connect({ writableLength: 10, bytesWritten: 10 });
  server.emit('close');
  pass(10);
  expect(destroy).not.toHaveBeenCalled();
});

test('those on which nothing has come are closed on request', () => {
  const { connect, closeUnused } = watched();
  const used = connect({});
  const unused = connect({ bytesRead: 0 });
  closeUnused();
  expect([used.destroy.mock.calls.length, unused.destroy.mock.calls.length]).toEqual([0, 1]);
});

test('those on which no request has come are closed a moment later, and no other', () => {
  const { connect, closeUnused } = watched();
  const ofNode = { parser: {} };
  const halfHead = connect(ofNode);
  const others = [
    connect({ ...ofNode, _httpMessage: {} }),
    connect({ ...ofNode, writableLength: 10 }),
    // Of the fast lane, or taken for a WebSocket.
    connect({}),
  ];
  closeUnused();
  vi.advanceTimersByTime(HEAD_WAIT_MS - 1);
  expect(halfHead.destroy).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(halfHead.destroy).toHaveBeenCalledOnce();
  expect(others.flatMap(({ destroy }) => destroy.mock.calls)).toEqual([]);
});
