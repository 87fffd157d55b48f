import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { ObservatoryError, type SubscribeAck, sessionTopic } from '#contracts';
import type { LiveHub, Subscription } from './live-hub.js';
import { LiveSockets } from './live-sockets.js';

/** A socket that was let in, on a hub whose snapshots fail while `busy` says so. */
function connect() {
  const busy = { is: true };
  /** Topics, as often as they are followed. */
  const joined: string[] = [];
  const hub = {
    subscribe: async (_tenantId: string, topic: string): Promise<Subscription> => {
      if (busy.is) throw new ObservatoryError('store_busy');
      return { ack: { status: 'ok', kind: 'snapshot', topic, seq: 0, snapshot: [] } as never, rest: null };
    },
    release: vi.fn(),
  } as unknown as LiveHub;
  const namespace = Object.assign(new EventEmitter(), { use: () => {} });
  const events = { connected: () => {}, subscribeFailed: () => {} };
  new LiveSockets({
    namespace: namespace as never,
    hub,
    authenticate: () => null,
    events,
  });
  const data = { principal: { tenant_id: 't', operator_id: 'ada' } };
  const socket = Object.assign(new EventEmitter(), {
    data,
    join: (room: string) => joined.push(room),
  });
  namespace.emit('connection', socket);
  const subscribe = (sessionId: string) =>
    new Promise<SubscribeAck>((settle) => {
      socket.emit('subscribe', { topic: sessionTopic(sessionId) }, settle);
    });
  return { busy, joined, subscribe };
}

it('topics whose snapshots could not be read take none of the places that a socket has', async () => {
  const { busy, subscribe } = connect();
  for (let count = 0; count < 60; count += 1)
    expect(await subscribe(`s-${count}`)).toMatchObject({ status: 'error', reason: 'store_busy' });
  busy.is = false;
  expect(await subscribe('another')).toMatchObject({ status: 'ok', kind: 'snapshot' });
});

it('of two subscriptions at once one may fail, and the other follows', async () => {
  const { busy, joined, subscribe } = connect();
  const first = subscribe('s-1');
  busy.is = false;
  const second = subscribe('s-1');
  expect(await first).toMatchObject({ status: 'error', reason: 'store_busy' });
  expect(await second).toMatchObject({ status: 'ok' });
  expect(joined).toEqual([`t|${sessionTopic('s-1')}`]);
});
