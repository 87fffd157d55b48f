import { EventEmitter } from 'node:events';
import type { Socket } from 'socket.io';
import { beforeEach, expect, it } from 'vitest';
import { StrangerConnections } from './stranger-connections.js';

class FakeConnection extends EventEmitter {
  readonly transport = {};
  readyState = 'open';

  close(): void {
    this.readyState = 'closed';
    this.emit('close');
  }
}

const COUNT_MAX = 2;

let strangers: StrangerConnections;
let cutCount: number;

beforeEach(() => {
  cutCount = 0;
  strangers = new StrangerConnections({
    countMax: COUNT_MAX,
    onCut: () => {
      cutCount += 1;
    },
  });
});

function begin(): FakeConnection {
  const connection = new FakeConnection();
  strangers.add(connection as never);
  return connection;
}

/** @returns its socket in the namespace that let it in */
function letIn(connection: FakeConnection): EventEmitter {
  const socket = Object.assign(new EventEmitter(), { conn: connection });
  strangers.admit(socket as unknown as Socket);
  return socket;
}

const isCut = ({ readyState }: FakeConnection) => readyState === 'closed';

it('keeps as many as there may be, and cuts the oldest for one more', () => {
  const connections = [begin(), begin()];
  expect(connections.map(isCut)).toEqual([false, false]);
  connections.push(begin());
  expect(connections.map(isCut)).toEqual([true, false, false]);
  expect(cutCount).toBe(1);
});

it('counts none that has gone by itself', () => {
  const [gone, stays] = [begin(), begin()];
  gone.close();
  begin();
  expect(isCut(stays)).toBe(false);
  expect(cutCount).toBe(0);
});

it('counts none that was let in, until it has left each namespace', () => {
  const connection = begin();
  const sockets = [letIn(connection), letIn(connection)];
  for (let count = 0; count < COUNT_MAX; count += 1) begin();
  sockets[0]?.emit('disconnect');
  expect([isCut(connection), cutCount]).toEqual([false, 0]);
  sockets[1]?.emit('disconnect');
  expect(cutCount).toBe(1);
  for (let count = 0; count < COUNT_MAX; count += 1) begin();
  expect(isCut(connection)).toBe(true);
});

it('counts none whose sockets end because it has gone', () => {
  const connection = begin();
  const socket = letIn(connection);
  const strangersThere = [begin(), begin()];
  connection.close();
  socket.emit('disconnect');
  expect(strangersThere.map(isCut)).toEqual([false, false]);
});
