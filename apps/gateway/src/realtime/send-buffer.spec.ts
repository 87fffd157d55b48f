import { EventEmitter } from 'node:events';
import type { Socket } from 'socket.io';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Connection } from './partial-messages.js';
import { cutSlowReader } from './send-buffer.js';

const BYTES_MAX = 1_000;

class FakeConnection extends EventEmitter {
  readonly transport = {};
  readonly close = vi.fn();
}

const STRANGER_BYTES_MAX = 10;
/** Whom a namespace let in. */
const LET_IN = { emit: vi.fn() } as unknown as Socket;

const onCut = vi.fn();
let socket: Socket | undefined;
let connection: FakeConnection;
const send = (...sizes: number[]) => {
  for (const size of sizes) connection.emit('packetCreate', { data: 'x'.repeat(size) });
};

beforeEach(() => {
  onCut.mockClear();
  socket = LET_IN;
  connection = new FakeConnection();
  cutSlowReader(connection as unknown as Connection, {
    bytesMax: BYTES_MAX,
    strangerBytesMax: STRANGER_BYTES_MAX,
    socketOf: () => socket,
    onCut,
  });
});

test('who reads a snapshot larger than the buffer keeps what comes meanwhile, as much as the buffer takes', () => {
  send(2 * BYTES_MAX, BYTES_MAX / 2, BYTES_MAX / 2, 1);
  expect(onCut).not.toHaveBeenCalled();
  send(1);
  expect(onCut).toHaveBeenCalledExactlyOnceWith(LET_IN, 3 * BYTES_MAX + 1);
});

test('what has been taken no longer counts, and a second packet as large as the first does', () => {
  send(2 * BYTES_MAX, BYTES_MAX);
  connection.emit('drain');
  send(2 * BYTES_MAX, 2 * BYTES_MAX);
  expect(onCut).not.toHaveBeenCalled();
  send(1);
  expect(onCut).toHaveBeenCalledOnce();
});

test('for who was not let in less may wait', () => {
  socket = undefined;
  send(STRANGER_BYTES_MAX, STRANGER_BYTES_MAX, 1);
  expect(onCut).not.toHaveBeenCalled();
  send(1);
  expect(onCut).toHaveBeenCalledExactlyOnceWith(undefined, 2 * STRANGER_BYTES_MAX + 1);
});
