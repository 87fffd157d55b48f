import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { ObservatoryError, type SubscribeAck, sessionTopic } from '#contracts';
import type { LiveHub, Subscription } from './live-hub.js';
import { LiveSockets } from './live-sockets.js';

/** A socket that was let in, on a hub whose snapshots fail as `busy` says, while it does. */
function connect() {
  const busy = { is: true, error: new ObservatoryError('store_busy') as Error };
  /** What a snapshot is waited for with, if with anything. */
  const reading: { wait?: () => Promise<void> } = {};
  /** Topics, as often as they are followed. */
  const joined: string[] = [];
  const release = vi.fn();
  const hub = {
    subscribe: async (_tenantId: string, topic: string): Promise<Subscription> => {
      if (reading.wait) await reading.wait();
      if (busy.is) throw busy.error;
      return { ack: { status: 'ok', kind: 'snapshot', topic, seq: 0, snapshot: [] } as never, rest: null };
    },
    release,
  } as unknown as LiveHub;
  const namespace = Object.assign(new EventEmitter(), { use: () => {} });
  const events = { connected: () => {}, subscribeFailed: vi.fn() };
  new LiveSockets({
    namespace: namespace as never,
    hub,
    authenticate: () => ({ ok: false, code: 'unauthorized' }),
    events,
  });
  const data = { principal: { tenant_id: 't', operator_id: 'ada' } };
  const socket = Object.assign(new EventEmitter(), {
    data,
    join: (room: string) => joined.push(room),
    leave: (room: string) => joined.splice(joined.indexOf(room), 1),
  });
  namespace.emit('connection', socket);
  const subscribe = (sessionId: string) =>
    new Promise<SubscribeAck>((settle) => {
      socket.emit('subscribe', { topic: sessionTopic(sessionId) }, settle);
    });
  const unsubscribe = (sessionId: string) => socket.emit('unsubscribe', { topic: sessionTopic(sessionId) });
  return { busy, events, joined, reading, release, subscribe, unsubscribe };
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

it('one more subscription, when the first of two at once follows already, leaves the second its answer', async () => {
  const { busy, joined, reading, subscribe } = connect();
  busy.is = false;
  const snapshots: (() => void)[] = [];
  reading.wait = () => new Promise((read) => snapshots.push(read));
  const asked = [subscribe('s-1'), subscribe('s-1')];
  snapshots[0]?.();
  expect(await asked[0]).toMatchObject({ status: 'ok' });
  asked.push(subscribe('s-1'));
  for (const read of snapshots) read();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  expect(joined).toEqual([`t|${sessionTopic('s-1')}`]);
});

it('a topic that there is not is followed by nobody', async () => {
  const { busy, joined, subscribe } = connect();
  busy.is = false;
  expect(await subscribe('')).toMatchObject({ status: 'error', reason: 'not_found' });
  await setImmediate();
  expect(joined).toEqual([]);
});

it('who unsubscribes before the snapshot was read is told so, and follows nothing', async () => {
  const { busy, joined, reading, release, subscribe, unsubscribe } = connect();
  busy.is = false;
  reading.wait = () => setImmediate();
  const asked = subscribe('s-1');
  unsubscribe('s-1');
  expect(await asked).toMatchObject({ status: 'error', reason: 'unsubscribed' });
  expect(joined).toEqual([]);
  expect(release).toHaveBeenCalledOnce();
});

it('a snapshot that fails for a reason of ours is noted, and its reason told to nobody', async () => {
  const { busy, events, subscribe } = connect();
  await subscribe('s-1');
  expect(events.subscribeFailed).not.toHaveBeenCalled();
  busy.error = new Error('canary');
  const answer = await subscribe('s-1');
  expect(answer).toMatchObject({ status: 'error', reason: 'internal_error' });
  expect(JSON.stringify(answer)).not.toContain('canary');
  expect(events.subscribeFailed).toHaveBeenCalledExactlyOnceWith(busy.error);
});
