import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { BytePieces } from '#kernel';
import { countingIds, FakeClock, turn } from '#testing';
import { ProxyRoute } from './proxy-route.js';
import type { Step } from './step.js';

const MEGABYTE = 1024 * 1024;
const REFUSED = { kind: 'refuse', decision: 'refused', code: 'invalid_request' } as const;

/** What ran, with what others wanted to do meanwhile among it. */
async function ran(
  bodyBytes: number,
  during: (outgoing: EventEmitter) => void = () => {},
): Promise<string[]> {
  const seen: string[] = [];
  const another = () => setImmediate(() => seen.push('another'));
  const outgoing = Object.assign(new EventEmitter(), {
    socket: {},
    writeHead() {},
    end() {},
  });
  const receive: Step = {
    name: 'receive',
    onFailure: 'closed',
    run(call) {
      call.body = new BytePieces();
      call.body.push(Buffer.alloc(bodyBytes));
      another();
      during(outgoing);
      return undefined;
    },
  };
  const reading = (name: string): Step => ({
    name,
    onFailure: 'open',
    readsAll: true,
    run() {
      seen.push(name);
      another();
      return undefined;
    },
  });
  const last: Step = { name: 'last', onFailure: 'closed', run: () => REFUSED };
  const route = new ProxyRoute({
    steps: [receive, reading('first'), reading('second'), last],
    clock: new FakeClock(),
    ids: countingIds(),
    events: {
      failedOpen: expect.unreachable,
      failedClosed: expect.unreachable,
      turnedAway: expect.unreachable,
    },
    isDraining: () => false,
  });
  const incoming = {
    method: 'POST',
    url: '/proxy/openai/v1/x',
    rawHeaders: [],
    headers: {},
    complete: true,
  };
  route.handle(incoming as unknown as IncomingMessage, outgoing as unknown as ServerResponse);
  await vi.waitFor(() => expect([...route.running]).toEqual([]));
  await turn();
  return seen;
}

test('others have a turn before each guard that reads a long request, and wait for no short one', async () => {
  expect(await ran(MEGABYTE)).toEqual(['another', 'first', 'another', 'second', 'another']);
  expect(await ran(MEGABYTE - 1)).toEqual(['first', 'second', 'another', 'another', 'another']);
});

test('no guard reads the long request of a client that has left meanwhile', async () => {
  const leave = (outgoing: EventEmitter) => setImmediate(() => outgoing.emit('close'));
  expect(await ran(MEGABYTE, leave)).toEqual(['another']);
});

test.each([
  ['/proxy/', false, 'invalid_request'],
  ['/proxy/openai/v1/x', true, 'draining'],
])('a call to %s that is refused ahead of all guards is counted', (url, isDraining, code) => {
  const counted: string[] = [];
  const route = new ProxyRoute({
    steps: [],
    clock: new FakeClock(),
    ids: countingIds(),
    events: {
      failedOpen: expect.unreachable,
      failedClosed: expect.unreachable,
      turnedAway: (why) => counted.push(why),
    },
    isDraining: () => isDraining,
  });
  const incoming = { method: 'POST', url, rawHeaders: [], headers: {}, complete: true };
  const outgoing = Object.assign(new EventEmitter(), { writeHead() {}, end() {} });
  route.handle(incoming as unknown as IncomingMessage, outgoing as unknown as ServerResponse);
  expect(counted).toEqual([code]);
});
