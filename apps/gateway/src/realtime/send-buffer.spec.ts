import { EventEmitter } from 'node:events';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Connection } from './partial-messages.js';
import { cutSlowReader } from './send-buffer.js';

const BYTES_MAX = 1_000;

class FakeConnection extends EventEmitter {
  readonly transport = {};
  readonly close = vi.fn();
}

const onCut = vi.fn();
let connection: FakeConnection;
const send = (...sizes: number[]) => {
  for (const size of sizes) connection.emit('packetCreate', { data: 'x'.repeat(size) });
};

beforeEach(() => {
  onCut.mockClear();
  connection = new FakeConnection();
  cutSlowReader(connection as unknown as Connection, {
    bytesMax: BYTES_MAX,
    strangerBytesMax: BYTES_MAX,
    socketOf: () => undefined,
    onCut,
  });
});

test('who reads a snapshot larger than the buffer keeps what comes meanwhile, as much as the buffer takes', () => {
  send(2 * BYTES_MAX, BYTES_MAX / 2, BYTES_MAX / 2, 1);
  expect(onCut).not.toHaveBeenCalled();
  send(1);
  expect(onCut).toHaveBeenCalledExactlyOnceWith(undefined, 3 * BYTES_MAX + 1);
});

test('what has been taken no longer counts, and a second packet as large as the first does', () => {
  send(2 * BYTES_MAX, BYTES_MAX);
  connection.emit('drain');
  send(2 * BYTES_MAX, 2 * BYTES_MAX);
  expect(onCut).not.toHaveBeenCalled();
  send(1);
  expect(onCut).toHaveBeenCalledOnce();
});
