import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Frame, SessionView, SubscribeAck } from '#contracts';
import { OFFLINE_AFTER_ATTEMPTS, SILENT_AFTER_MS } from './connection';
import { LINGER_MS, LiveClient } from './live-client';

type Listener = (...args: never[]) => void;
type Acknowledge = (ack: SubscribeAck) => void;

/** A socket whose other end is the test. */
class ScriptedSocket {
  readonly sent: { event: string; body: unknown; ack: Acknowledge | undefined }[] = [];
  connectCount = 0;
  readonly #listeners = new Map<string, Listener>();

  connect(): void {
    this.connectCount += 1;
  }
  disconnect(): void {}
  on(event: string, listener: Listener): void {
    this.#listeners.set(event, listener);
  }
  emit(event: string, body: unknown, ack?: Acknowledge): void {
    this.sent.push({ event, body, ack });
  }
  receive(event: string, ...args: unknown[]): void {
    (this.#listeners.get(event) as ((...all: unknown[]) => void) | undefined)?.(...args);
  }
  get last() {
    const sent = this.sent.at(-1);
    if (!sent) throw new Error('nothing was sent');
    return sent;
  }
}

const TOPIC = 'gateway:sessions';
const session = (session_id: string, step_count = 1) => ({ session_id, step_count }) as SessionView;
const snapshot = (seq: number, ...sessions: SessionView[]): SubscribeAck => ({
  status: 'ok',
  kind: 'snapshot',
  topic: TOPIC,
  seq,
  snapshot: sessions,
});
const frame = (from_seq: number, ...payloads: SessionView[]): Frame => ({
  topic: TOPIC,
  from_seq,
  to_seq: from_seq + payloads.length - 1,
  events: payloads.map((payload, index) => ({ seq: from_seq + index, payload })),
});

let socket: ScriptedSocket;
let flushes: (() => void)[];
let client: LiveClient;
let refusedCount: number;

const paint = () => {
  for (const flush of flushes.splice(0)) flush();
};
const ids = () => [...((client.read(TOPIC).data as Map<string, SessionView> | null)?.keys() ?? [])];

beforeEach(() => {
  vi.useFakeTimers();
  socket = new ScriptedSocket();
  flushes = [];
  refusedCount = 0;
  client = new LiveClient({
    socket,
    nowMs: () => Date.now(),
    random: () => 0.5,
    schedule: (flush) => flushes.push(flush),
    onRefused: () => {
      refusedCount += 1;
    },
  });
  client.start();
  socket.receive('connect');
});
afterEach(() => vi.useRealTimers());

describe('LiveClient', () => {
  it('subscribes with the first user and merges frames once per paint', () => {
    let changes = 0;
    client.use(TOPIC, () => {
      changes += 1;
    });
    expect(socket.last).toMatchObject({ event: 'subscribe', body: { topic: TOPIC } });
    socket.last.ack?.(snapshot(10, session('a')));
    socket.receive('frame', frame(11, session('b')));
    socket.receive('frame', frame(12, session('c')));
    expect(ids()).toEqual(['a']);
    paint();
    expect(ids()).toEqual(['a', 'b', 'c']);
    expect(changes).toBe(2);
  });

  it('applies frames that overtake their ack', () => {
    client.use(TOPIC, () => {});
    const { ack } = socket.last;
    socket.receive('frame', frame(10, session('old')));
    socket.receive('frame', frame(11, session('b')));
    ack?.(snapshot(10, session('a')));
    paint();
    expect(ids()).toEqual(['a', 'b']);
  });

  it('asks again from its last number when frames are missing', () => {
    client.use(TOPIC, () => {});
    socket.last.ack?.(snapshot(10, session('a')));
    socket.receive('frame', frame(11, session('b')));
    socket.receive('frame', frame(14, session('d')));
    expect(socket.last).toMatchObject({ event: 'subscribe', body: { topic: TOPIC, after_seq: 11 } });
  });

  it('keeps its data through a loss and asks again from its last number', () => {
    client.use(TOPIC, () => {});
    socket.last.ack?.(snapshot(10, session('a')));
    socket.receive('frame', frame(11, session('b')));
    socket.receive('disconnect');
    expect(ids()).toEqual(['a', 'b']);
    expect(client.connection).toMatchObject({ kind: 'reconnecting' });
    vi.advanceTimersByTime(500);
    expect(socket.connectCount).toBe(2);
    socket.receive('connect');
    expect(client.connection).toEqual({ kind: 'connected' });
    expect(socket.last.body).toEqual({ topic: TOPIC, after_seq: 11 });
    socket.last.ack?.({
      status: 'ok',
      kind: 'deltas',
      topic: TOPIC,
      seq: 12,
      events: [{ seq: 12, payload: session('c') }],
    });
    expect(ids()).toEqual(['a', 'b', 'c']);
  });

  it('takes nothing that came ahead of an ack which a loss keeps from coming', () => {
    client.use(TOPIC, () => {});
    socket.last.ack?.(snapshot(10, session('a')));
    socket.receive('frame', frame(14, session('d')));
    socket.receive('frame', frame(15, session('e')));
    socket.receive('disconnect');
    expect(ids()).toEqual(['a']);
    socket.receive('connect');
    expect(socket.last.body).toEqual({ topic: TOPIC, after_seq: 10 });
  });

  it('says since when it has heard nothing, and is live again with the first ping', () => {
    client.use(TOPIC, () => {});
    socket.last.ack?.(snapshot(10, session('a')));
    const heardMs = Date.now();
    vi.advanceTimersByTime(SILENT_AFTER_MS - 1);
    expect(client.connection).toEqual({ kind: 'connected' });
    vi.advanceTimersByTime(1);
    expect(client.connection).toEqual({ kind: 'silent', sinceMs: heardMs });
    client.hear();
    expect(client.connection).toEqual({ kind: 'connected' });
    vi.advanceTimersByTime(SILENT_AFTER_MS - 1);
    socket.receive('frame', frame(11, session('b')));
    vi.advanceTimersByTime(SILENT_AFTER_MS - 1);
    expect(client.connection).toEqual({ kind: 'connected' });
  });

  it('asks through a silent socket too, and counts its loss from the silence on', () => {
    const sinceMs = Date.now();
    vi.advanceTimersByTime(SILENT_AFTER_MS);
    client.use(TOPIC, () => {});
    expect(socket.last).toMatchObject({ event: 'subscribe', body: { topic: TOPIC } });
    socket.receive('disconnect');
    expect(client.connection).toMatchObject({ kind: 'reconnecting', sinceMs });
  });

  it('is not silent without a socket', () => {
    client.stop();
    client.hear();
    vi.advanceTimersByTime(SILENT_AFTER_MS);
    expect(client.connection).toEqual({ kind: 'connecting' });
  });

  it('says offline after several tries and goes on trying', () => {
    for (let attempt = 0; attempt <= OFFLINE_AFTER_ATTEMPTS; attempt += 1) {
      socket.receive('connect_error', Object.assign(new Error('xhr poll error'), { type: 'TransportError' }));
    }
    expect(client.connection).toMatchObject({ kind: 'offline', sinceMs: Date.now() });
    const before = socket.connectCount;
    vi.advanceTimersByTime(15_000);
    expect(socket.connectCount).toBe(before + 1);
    expect(refusedCount).toBe(0);
  });

  it('asks again after a refusal that passes, and shows it meanwhile', () => {
    client.use(TOPIC, () => {});
    socket.last.ack?.(snapshot(1, session('a')));
    socket.receive('connect');
    socket.last.ack?.({ status: 'error', reason: 'store_busy', detail: 'Busy.' });
    expect([client.read(TOPIC).phase, ids()]).toEqual(['refused', ['a']]);
    const sentCount = socket.sent.length;
    vi.advanceTimersByTime(2_000);
    expect(socket.sent.length).toBe(sentCount + 1);
    expect(socket.last.body).toEqual({ topic: TOPIC, after_seq: 1 });
    socket.last.ack?.(snapshot(7, session('b')));
    expect([client.read(TOPIC).phase, client.read(TOPIC).refusal, ids()]).toEqual(['live', null, ['b']]);
    vi.advanceTimersByTime(60_000);
    expect(socket.sent.length).toBe(sentCount + 1);
  });

  it('does not take the refusal of an earlier subscription for that of the one it waits for', () => {
    client.use(TOPIC, () => {});
    const late = socket.last;
    vi.advanceTimersByTime(10_000);
    expect(socket.last).not.toBe(late);
    late.ack?.({ status: 'error', reason: 'unsubscribed', detail: 'Another took its place.' });
    expect(client.read(TOPIC).phase).not.toBe('refused');
    socket.last.ack?.(snapshot(3, session('a')));
    expect([client.read(TOPIC).phase, ids()]).toEqual(['live', ['a']]);
  });

  it('takes what only the latest of two subscriptions was told, though an earlier one was answered first', () => {
    client.use(TOPIC, () => {});
    const slow = socket.last;
    vi.advanceTimersByTime(10_000);
    const latest = socket.last;
    slow.ack?.(snapshot(3, session('a')));
    latest.ack?.(snapshot(4, session('a'), session('b')));
    expect(ids()).toEqual(['a', 'b']);
  });

  it('asks again where the latest of two subscriptions is refused: the gateway follows that one', () => {
    client.use(TOPIC, () => {});
    const slow = socket.last;
    vi.advanceTimersByTime(10_000);
    const latest = socket.last;
    slow.ack?.(snapshot(3, session('a')));
    latest.ack?.({ status: 'error', reason: 'store_busy', detail: 'Busy.' });
    vi.advanceTimersByTime(2_000);
    expect(socket.last).not.toBe(latest);
    expect(socket.last.body).toEqual({ topic: TOPIC, after_seq: 3 });
  });

  it('does not go back to the snapshot of an earlier subscription', () => {
    client.use(TOPIC, () => {});
    const slow = socket.last;
    vi.advanceTimersByTime(10_000);
    socket.last.ack?.(snapshot(3, session('a'), session('b')));
    socket.receive('frame', frame(6, session('d')));
    slow.ack?.(snapshot(2, session('a')));
    expect(ids()).toEqual(['a', 'b']);
    socket.last.ack?.({ status: 'ok', kind: 'deltas', topic: TOPIC, seq: 3, events: [] });
    expect(client.read(TOPIC).seq).toBe(3);
  });

  it('takes a refusal for good that another try would not change', () => {
    client.use(TOPIC, () => {});
    socket.last.ack?.({ status: 'error', reason: 'forbidden', detail: 'No.' });
    const sentCount = socket.sent.length;
    vi.advanceTimersByTime(60_000);
    expect([client.read(TOPIC).phase, socket.sent.length]).toEqual(['refused', sentCount]);
  });

  it('asks again for what was refused once somebody knows better, and for nothing else', () => {
    client.askAgain(TOPIC);
    client.use(TOPIC, () => {});
    const sentCount = socket.sent.length;
    client.askAgain(TOPIC);
    expect(socket.sent.length).toBe(sentCount);
    socket.last.ack?.({ status: 'error', reason: 'session_not_found', detail: 'None.' });
    client.askAgain(TOPIC);
    expect(socket.sent.length).toBe(sentCount + 1);
    socket.last.ack?.(snapshot(3, session('a')));
    expect([client.read(TOPIC).phase, ids()]).toEqual(['live', ['a']]);
    client.askAgain(TOPIC);
    expect(socket.sent.length).toBe(sentCount + 1);
  });

  it('tells when the gateway itself refuses', () => {
    socket.receive('connect_error', new Error('Sign in.'));
    expect(refusedCount).toBe(1);
  });

  it('unsubscribes some time after the last user left', () => {
    const leave = client.use(TOPIC, () => {});
    socket.last.ack?.(snapshot(10, session('a')));
    leave();
    expect(ids()).toEqual(['a']);
    vi.advanceTimersByTime(LINGER_MS);
    expect(socket.last).toMatchObject({ event: 'unsubscribe', body: { topic: TOPIC } });
    expect(client.read(TOPIC).data).toBeNull();
  });

  it('forgets everything on stop', () => {
    client.use(TOPIC, () => {});
    socket.last.ack?.(snapshot(10, session('a')));
    client.stop();
    expect(client.read(TOPIC).data).toBeNull();
    socket.receive('disconnect');
    expect(client.connection).toEqual({ kind: 'connecting' });
  });
});
