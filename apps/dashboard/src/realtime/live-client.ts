/**
 * The live connection: one socket, one store per topic, merged at most once per animation frame.
 *
 * In a component:
 *
 *     const { data, phase, refusal } = useTopic('gateway:topology');   // TopicData: what each topic's data is
 *     const connection = useConnection();                              // connected | silent | reconnecting | offline ...
 *
 * `data` is null until the first snapshot (show Skeletons) and is kept through a lost connection, so a page never goes
 * blank. A topic is subscribed while a component uses it, and for LINGER_MS after, so that going back is instant.
 * Data is immutable: an object that did not change keeps its identity, so rows can be memoised on it.
 * `gateway:entropy_alerts` belongs to the Session Cluster Manager alone (FR-9.10); elsewhere use `gateway:sessions`.
 *
 * After a loss, a cut (`consumer_too_slow`) or a gap in the numbers, each topic asks again from its last number.
 */
import type { ErrorCode, Frame, LiveEvent, SubscribeAck, Topic } from '#contracts';
import { type ConnectionState, OFFLINE_AFTER_ATTEMPTS, retryDelayMs, SILENT_AFTER_MS } from './connection';
import { mergeOf } from './topic-merges';
import { applyAck, applyEvents, judgeFrame, type TopicState, WAITING } from './topic-state';

/** A topic without users stays subscribed this long. */
export const LINGER_MS = 10_000;
/** A subscription whose ack does not come is sent again after this. */
const ACK_TIMEOUT_MS = 10_000;
/** One that was refused for now is sent again after this. */
const REFUSED_RETRY_MS = 2_000;
/** Refusals that another try may change: after a restart of the gateway every page asks at once. */
const FOR_NOW: ReadonlySet<string> = new Set([
  'store_busy',
  'rate_limited',
  'internal_error',
] satisfies ErrorCode[]);

/** What the client needs of a Socket.IO socket whose own reconnection is switched off. */
export interface LiveSocket {
  connect(): unknown;
  disconnect(): unknown;
  emit(event: string, ...args: unknown[]): unknown;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

export interface LiveClientDeps {
  socket: LiveSocket;
  nowMs: () => number;
  random: () => number;
  /** Runs the callback before the next paint, or soon if nothing is painted. */
  schedule: (flush: () => void) => void;
  /** The gateway answered and refused the connection: the login may be gone. Tries go on until `stop`. */
  onRefused: () => void;
}

interface TopicEntry {
  state: TopicState;
  userCount: number;
  listeners: Set<() => void>;
  lingerTimer: ReturnType<typeof setTimeout> | undefined;
  /** Until the subscription is sent again. */
  ackTimer: ReturnType<typeof setTimeout> | undefined;
  /** An ack is awaited: frames that overtake it wait in `pending`. */
  subscribing: boolean;
  /** Subscriptions sent so far. */
  sentCount: number;
  /** Last number received, merged or pending; null before a snapshot. */
  receivedSeq: number | null;
  pending: LiveEvent[];
}

export class LiveClient {
  readonly #deps: LiveClientDeps;
  readonly #topics = new Map<Topic, TopicEntry>();
  readonly #connectionListeners = new Set<() => void>();
  #connection: ConnectionState = { kind: 'connecting' };
  #attempt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;
  #flushScheduled = false;
  #started = false;

  constructor(deps: LiveClientDeps) {
    this.#deps = deps;
    const { socket } = deps;
    socket.on('connect', () => this.#onConnect());
    socket.on('disconnect', () => this.#onLost());
    socket.on('connect_error', (error: Error & { type?: string }) => this.#onConnectError(error));
    socket.on('frame', (frame: Frame) => this.#onFrame(frame));
  }

  /** Connects; does nothing when started already. Call once logged in. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#deps.socket.connect();
  }

  /** Disconnects and forgets all data: after a logout. */
  stop(): void {
    this.#started = false;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    this.#deps.socket.disconnect();
    for (const [topic, entry] of this.#topics) {
      clearTimeout(entry.ackTimer);
      Object.assign(entry, { state: WAITING, receivedSeq: null, pending: [], subscribing: false });
      if (entry.userCount === 0) this.#topics.delete(topic);
    }
    this.#setConnection({ kind: 'connecting' });
  }

  /** Tries now instead of waiting out the delay: the network came back, the tab was shown, somebody clicked. */
  retryNow(): void {
    if (!this.#started || this.#connection.kind === 'connected' || this.#retryTimer === undefined) return;
    this.#connectAgain();
  }

  /** Something came from the gateway, a ping at least: a frozen one leaves the socket open for half a minute. */
  hear(): void {
    if (!this.#hasSocket) return;
    if (this.#connection.kind === 'silent') this.#setConnection({ kind: 'connected' });
    const sinceMs = this.#deps.nowMs();
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => this.#setConnection({ kind: 'silent', sinceMs }), SILENT_AFTER_MS);
  }

  get connection(): ConnectionState {
    return this.#connection;
  }

  onConnection(listener: () => void): () => void {
    this.#connectionListeners.add(listener);
    return () => this.#connectionListeners.delete(listener);
  }

  /** The topic's state; the same object until it changes. */
  read(topic: Topic): TopicState {
    return this.#topics.get(topic)?.state ?? WAITING;
  }

  /** Keeps the topic subscribed until the returned function is called; calls `listener` after each change. */
  use(topic: Topic, listener: () => void): () => void {
    const entry = this.#entryOf(topic);
    clearTimeout(entry.lingerTimer);
    entry.userCount += 1;
    entry.listeners.add(listener);
    const isFirst = entry.userCount === 1 && !entry.subscribing && entry.state.phase !== 'live';
    if (isFirst && this.#hasSocket) this.#subscribe(topic, entry);
    return () => {
      entry.listeners.delete(listener);
      entry.userCount -= 1;
      if (entry.userCount === 0) entry.lingerTimer = setTimeout(() => this.#drop(topic, entry), LINGER_MS);
    };
  }

  /** Of one that was refused, since what was not there has come. */
  askAgain(topic: Topic): void {
    const entry = this.#topics.get(topic);
    if (entry?.state.phase === 'refused' && this.#hasSocket) this.#subscribe(topic, entry);
  }

  /** What is sent arrives, at once or when the silence ends. */
  get #hasSocket(): boolean {
    return this.#connection.kind === 'connected' || this.#connection.kind === 'silent';
  }

  #entryOf(topic: Topic): TopicEntry {
    const known = this.#topics.get(topic);
    if (known) return known;
    const entry: TopicEntry = {
      state: WAITING,
      userCount: 0,
      listeners: new Set(),
      lingerTimer: undefined,
      ackTimer: undefined,
      subscribing: false,
      sentCount: 0,
      receivedSeq: null,
      pending: [],
    };
    this.#topics.set(topic, entry);
    return entry;
  }

  #drop(topic: Topic, entry: TopicEntry): void {
    if (entry.userCount > 0 || this.#topics.get(topic) !== entry) return;
    clearTimeout(entry.ackTimer);
    this.#topics.delete(topic);
    if (this.#hasSocket) this.#deps.socket.emit('unsubscribe', { topic });
  }

  #subscribe(topic: Topic, entry: TopicEntry): void {
    this.#flush();
    entry.subscribing = true;
    clearTimeout(entry.ackTimer);
    entry.ackTimer = setTimeout(() => this.#subscribe(topic, entry), ACK_TIMEOUT_MS);
    const request = entry.state.seq === null ? { topic } : { topic, after_seq: entry.state.seq };
    entry.sentCount += 1;
    const sentCount = entry.sentCount;
    this.#deps.socket.emit('subscribe', request, (ack: SubscribeAck) => {
      this.hear();
      const isLatest = sentCount === entry.sentCount;
      if (this.#topics.get(topic) === entry && tellsMore(entry, ack, isLatest))
        this.#onAck(topic, entry, ack);
    });
  }

  #onAck(topic: Topic, entry: TopicEntry, ack: SubscribeAck): void {
    clearTimeout(entry.ackTimer);
    entry.subscribing = false;
    entry.state = applyAck(mergeOf(topic), entry.state, ack);
    const overtaking = entry.pending.filter((event) => event.seq > (entry.state.seq ?? Infinity));
    entry.pending = overtaking;
    entry.receivedSeq = overtaking.at(-1)?.seq ?? entry.state.seq;
    if (ack.status === 'error' && FOR_NOW.has(ack.reason))
      entry.ackTimer = setTimeout(() => this.#subscribe(topic, entry), REFUSED_RETRY_MS);
    notify(entry.listeners);
    if (overtaking.length > 0) this.#scheduleFlush();
  }

  #onFrame(frame: Frame): void {
    this.hear();
    const topic = frame.topic as Topic;
    const entry = this.#topics.get(topic);
    if (!entry) return;
    if (entry.subscribing) {
      entry.pending.push(...frame.events);
      return;
    }
    if (entry.receivedSeq === null) return;
    const verdict = judgeFrame(entry.receivedSeq, frame);
    if (verdict === 'known') return;
    if (verdict === 'gap') {
      this.#subscribe(topic, entry);
      return;
    }
    entry.receivedSeq = frame.to_seq;
    entry.pending.push(...frame.events);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#deps.schedule(() => this.#flush());
  }

  /** Merges what has arrived since the last animation frame, each topic once. */
  #flush(): void {
    this.#flushScheduled = false;
    for (const [topic, entry] of this.#topics) {
      if (entry.subscribing || entry.pending.length === 0) continue;
      const events = entry.pending;
      entry.pending = [];
      entry.state = applyEvents(mergeOf(topic), entry.state, events);
      notify(entry.listeners);
    }
  }

  #onConnect(): void {
    this.#attempt = 0;
    this.#setConnection({ kind: 'connected' });
    this.hear();
    for (const [topic, entry] of this.#topics) this.#subscribe(topic, entry);
  }

  /** An error of the transport carries a type; a refusal by the gateway does not. */
  #onConnectError(error: Error & { type?: string }): void {
    this.#onLost();
    if (error.type === undefined) this.#deps.onRefused();
  }

  #onLost(): void {
    clearTimeout(this.#silenceTimer);
    // What awaits an ack does not follow what is there: merged, it would hide what lies between for good.
    this.#flush();
    for (const entry of this.#topics.values()) {
      clearTimeout(entry.ackTimer);
      Object.assign(entry, { subscribing: false, pending: [], receivedSeq: entry.state.seq });
    }
    if (!this.#started) return;
    const now = this.#deps.nowMs();
    const delay = retryDelayMs(this.#attempt, this.#deps.random());
    this.#attempt += 1;
    const sinceMs = 'sinceMs' in this.#connection ? this.#connection.sinceMs : now;
    const kind = this.#attempt > OFFLINE_AFTER_ATTEMPTS ? 'offline' : 'reconnecting';
    this.#setConnection({ kind, sinceMs, retryAtMs: now + delay });
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#connectAgain(), delay);
  }

  #connectAgain(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    if ('retryAtMs' in this.#connection) this.#setConnection({ ...this.#connection, retryAtMs: null });
    this.#deps.socket.connect();
  }

  #setConnection(state: ConnectionState): void {
    this.#connection = state;
    notify(this.#connectionListeners);
  }
}

/**
 * Of subscriptions sent while an earlier one was not answered yet each is answered, and the gateway follows the latest: while it reads
 * for that, the page is told nothing, and once it refuses that, nothing more. So the latest is heeded also where an earlier one has
 * answered; of what is behind what the page has, nothing is.
 */
function tellsMore(entry: TopicEntry, ack: SubscribeAck, isLatest: boolean): boolean {
  if (isLatest && (entry.subscribing || ack.status === 'error')) return true;
  return ack.status === 'ok' && ack.seq >= (entry.receivedSeq ?? ack.seq);
}

function notify(listeners: ReadonlySet<() => void>): void {
  for (const listener of listeners) listener();
}
