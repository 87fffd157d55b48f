import { EventEmitter } from 'node:events';
import type { Namespace } from 'socket.io';
import { expect, it } from 'vitest';
import { LIVE_EVENTS, ObservatoryError, type SessionKey, sessionKey } from '#contracts';
import type { ControlListener } from '../hitl/control-delivery.js';
import { AgentSockets } from './agent-sockets.js';

/** One socket of a tenant, and what a desk sees of it. */
function connected(paused: readonly SessionKey[]) {
  const heard = new Map<SessionKey, ControlListener>();
  const counted = { left: 0 };
  const namespace = new EventEmitter() as unknown as Namespace;
  namespace.use = () => namespace;
  new AgentSockets({
    namespace,
    events: { sessionLeft: () => (counted.left += 1) },
    desk: {
      attachListener: (key: SessionKey, push: ControlListener) => {
        heard.set(key, push);
        if (paused.includes(key)) push(told('paused'));
        return () => heard.delete(key);
      },
    },
  } as never);
  const socket = Object.assign(new EventEmitter(), {
    connected: true,
    data: { principal: { tenant_id: 'default' } },
    timeout: () => ({ emit: () => {} }),
  });
  namespace.emit('connection', socket);
  const watch = (session_id: string) => socket.emit(LIVE_EVENTS.watchControl, { session_id });
  return { heard, counted, watch, socket };
}

const told = (state: 'paused' | 'active') => ({ state, directives: [], session_id: '', cursor: 1 });
const keyOf = (session_id: string): SessionKey => sessionKey('default', session_id);

it('of more sessions than a socket may speak for those leave that wait for nothing, least recently spoken for first', () => {
  const { heard, counted, watch, socket } = connected([keyOf('s-0')]);
  for (let at = 0; at < 1_000; at += 1) watch(`s-${at}`);
  watch('s-1');
  watch('one more');
  expect(heard.size).toBe(1_000);
  expect(['s-0', 's-1', 's-2', 'one more'].map((id) => heard.has(keyOf(id)))).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(counted.left).toBe(1);
  socket.emit('disconnect');
  expect(heard.size).toBe(0);
  expect(counted.left).toBe(1);
});

it('where all of them are paused, the one least recently spoken for leaves', () => {
  const { heard, watch } = connected(Array.from({ length: 1_001 }, (_, at) => keyOf(`s-${at}`)));
  for (let at = 0; at <= 1_000; at += 1) watch(`s-${at}`);
  expect([heard.size, heard.has(keyOf('s-0')), heard.has(keyOf('s-1'))]).toEqual([1_000, false, true]);
});

it('one that is paused while it is heard of stays, and may leave again once it goes on', () => {
  const { heard, watch } = connected([]);
  for (let at = 0; at < 1_000; at += 1) watch(`s-${at}`);
  const push = heard.get(keyOf('s-0'));
  push?.(told('paused'));
  watch('one more');
  expect([heard.has(keyOf('s-0')), heard.has(keyOf('s-1'))]).toEqual([true, false]);
  push?.(told('active'));
  for (let at = 1_000; at < 2_000; at += 1) watch(`s-${at}`);
  expect([heard.size, heard.has(keyOf('s-0'))]).toEqual([1_000, false]);
  // Word of it that was still on its way takes no place, and it can be heard of again.
  push?.(told('paused'));
  watch('s-0');
  expect([heard.size, heard.has(keyOf('s-0'))]).toEqual([1_000, true]);
});

it.each([
  [new ObservatoryError('rate_limited'), 'rate_limited'],
  [new Error('disk I/O error'), 'internal_error'],
])('what comes to nothing is counted by the code that its sender is told', async (error, code) => {
  const counted: string[] = [];
  const namespace = new EventEmitter() as unknown as Namespace;
  namespace.use = () => namespace;
  const refusal = () => {
    throw error;
  };
  const events = { refused: (what: string) => counted.push(what) };
  new AgentSockets({ namespace, refusal, events, onFailed: () => {} } as never);
  const socket = Object.assign(new EventEmitter(), { data: { principal: {} } });
  namespace.emit('connection', socket);
  const told = await new Promise((answer) => socket.emit(LIVE_EVENTS.decisionLog, {}, answer));
  expect(told).toMatchObject({ reason: code });
  expect(counted).toEqual([code]);
});
