import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { awaitDrain } from './client-pace.js';

const STALL_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A wait on a connection on which `waitingBytes` were written that nobody has taken. */
function waitWith(waitingBytes: number) {
  const socket = { bytesWritten: waitingBytes, writableLength: waitingBytes };
  const outgoing = new EventEmitter();
  const seen: string[] = [];
  const stop = awaitDrain({
    incoming: { socket } as unknown as IncomingMessage,
    outgoing: outgoing as ServerResponse,
    stallMs: STALL_MS,
    onDrain: () => seen.push('drain'),
    onStall: () => seen.push('stall'),
  });
  const pass = (count: number) => vi.advanceTimersByTime(count * STALL_MS);
  const expectOver = () => {
    outgoing.emit('drain');
    expect([vi.getTimerCount(), outgoing.listenerCount('drain')]).toEqual([0, 0]);
  };
  return { socket, outgoing, seen, stop, pass, expectOver };
}

describe('the wait for a client', () => {
  test('ends with the drain, whatever is taken afterwards', () => {
    const wait = waitWith(100);
    wait.outgoing.emit('drain');
    wait.pass(5);
    wait.expectOver();
    expect(wait.seen).toEqual(['drain']);
  });

  test('is a stall, told once, when the connection carries nothing for so long', () => {
    const wait = waitWith(100);
    wait.pass(0.9);
    expect(wait.seen).toEqual([]);
    wait.pass(5);
    wait.expectOver();
    expect(wait.seen).toEqual(['stall']);
  });

  test('goes on while the connection carries something, however little, of whichever answer', () => {
    const wait = waitWith(100);
    for (let round = 0; round < 10; round += 1) {
      // Another answer's bytes come in behind as one leaves: what waits grows all the same.
      wait.socket.bytesWritten += 10;
      wait.socket.writableLength += 9;
      wait.pass(1);
    }
    expect(wait.seen).toEqual([]);
    wait.pass(1);
    expect(wait.seen).toEqual(['stall']);
  });

  test('goes on while nothing waits to leave: it is not the client who keeps anybody waiting', () => {
    const wait = waitWith(0);
    wait.pass(10);
    expect(wait.seen).toEqual([]);
    wait.socket.bytesWritten = 50;
    wait.socket.writableLength = 50;
    // The first look sees that something waits, the second that none of it left.
    wait.pass(1);
    expect(wait.seen).toEqual([]);
    wait.pass(1);
    expect(wait.seen).toEqual(['stall']);
  });

  test('leaves nothing behind when it is called off', () => {
    const wait = waitWith(100);
    wait.stop();
    wait.pass(5);
    wait.expectOver();
    expect(wait.seen).toEqual([]);
  });
});
