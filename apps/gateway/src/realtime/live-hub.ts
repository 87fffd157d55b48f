/**
 * Live topics without a transport: who publishes, what a subscriber gets first, what leaves when.
 * Feeds leave in frames every 100 ms; urgent topics at once. The socket layer hands in a `send`.
 *
 * A topic's log starts at the hub's overall count of events, which no topic's own count can pass, so a
 * topic that was dropped and comes back never reuses a sequence number.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Frame,
  type LiveAudience,
  type LivePublisher,
  type Published,
  type SubscribeAck,
  sessionTopic,
  TOPICS,
  type Topic,
} from '#contracts';
import { TopicLog, type ViewOf } from './topic-log.js';

export const FEED_INTERVAL_MS = 100;
/** Events a reconnecting subscriber can catch up on, per topic. */
const RECENT_COUNT_MAX = 500;
const SESSION_RECENT_COUNT_MAX = 200;
/** Characters of these events, per topic, where senders decide how long they are; the newest is kept whatever its length. */
const RECENT_CHARS_MAX = 16 * 1024 * 1024;
/** Snapshots read for one subscription: each was too old by the time it was there. */
export const SNAPSHOT_TRIES_MAX = 50;
/** Sequence numbers reserved at a time. */
export const SEQUENCE_BLOCK = 1_000_000;

/** Topics where 100 ms are too long: somebody waits for a click to show. */
const URGENT: ReadonlySet<string> = new Set([TOPICS.entropyAlerts, TOPICS.incidents, TOPICS.semanticLoops]);
const FEED_KINDS: ReadonlySet<string> = new Set(['step', 'session']);
const SESSION_PREFIX = sessionTopic('');
const GATEWAY_TOPICS: ReadonlySet<string> = new Set(Object.values(TOPICS));

/** A session's alerts and control leave at once, its steps with the next frame. */
const isUrgent = (topic: string, payload: unknown): boolean =>
  topic.startsWith(SESSION_PREFIX) ? !FEED_KINDS.has((payload as { kind: string }).kind) : URGENT.has(topic);

/** Of its session nothing that was told goes on, should another come under the same id. */
const isLast = (topic: string, payload: unknown): boolean =>
  topic.startsWith(SESSION_PREFIX) && (payload as { kind: string }).kind === 'deleted';

export const isTopic = (topic: string): topic is Topic =>
  GATEWAY_TOPICS.has(topic) || (topic.startsWith(SESSION_PREFIX) && topic.length > SESSION_PREFIX.length);

/** Resolves to null if the topic's subject does not exist in this tenant. */
export type SnapshotSource = (tenantId: string, topic: Topic) => Promise<unknown> | unknown;

export type SendFrame = (tenantId: string, frame: Frame) => void;

export interface LiveHubOptions {
  /** Persisted, so that numbers never go back across restarts. */
  reserveSequences: (count: number) => Promise<number>;
  onReserveFailed: (error: unknown) => void;
  /** What is made of what is published, of topics where that is not the same. */
  views?: { readonly [topic: string]: ViewOf | undefined };
}

/** What a subscriber starts from: `ack` first, then `rest`, then it joins; nothing may come between. */
export interface Subscription {
  ack: Exclude<SubscribeAck, { status: 'error' }>;
  /** Events that happened while an asynchronous snapshot was taken. */
  rest: Frame | null;
}

export class LiveHub implements LivePublisher, LiveAudience {
  readonly #options: LiveHubOptions;
  readonly #logs = new Map<string, Map<string, TopicLog>>();
  /** By tenant, the topics that somebody watches; none is empty. */
  readonly #watched = new Map<string, Set<TopicLog>>();
  readonly #snapshots = new Map<string, SnapshotSource>();
  /** Topics with pending events, and the tenant they belong to. */
  readonly #dirty = new Map<TopicLog, string>();
  /** Of the snapshot that was asked for last. */
  #turn: Promise<void> = Promise.resolve();
  #count = 0;
  #reservedUpTo = 0;
  #reserving = false;
  #timer: NodeJS.Timeout | undefined;
  #send: SendFrame = () => {};

  constructor(options: LiveHubOptions) {
    this.#options = options;
  }

  /** @param send emits to every subscriber of (tenant, topic) */
  async start(send: SendFrame): Promise<void> {
    this.#send = send;
    this.#count = await this.#options.reserveSequences(SEQUENCE_BLOCK);
    this.#reservedUpTo = this.#count + SEQUENCE_BLOCK;
    this.#timer = setInterval(() => this.flush(), FEED_INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.flush();
  }

  /** @param topic a gateway topic, or `session:` for all session topics */
  provideSnapshot(topic: Topic | 'session:', source: SnapshotSource): void {
    this.#snapshots.set(topic, source);
  }

  publish<T extends Topic>(tenantId: string, topic: T, payload: Published<T>, chars?: number): void {
    // Counted even if nobody watches this session: who comes back must not be told that nothing happened.
    this.#countOne();
    const log = topic.startsWith(SESSION_PREFIX)
      ? this.#logs.get(tenantId)?.get(topic)
      : this.#log(tenantId, topic);
    if (log === undefined) return;
    log.append(payload, chars);
    if (!log.isWatched) return;
    if (isUrgent(topic, payload)) this.#sendPending(tenantId, log);
    else this.#dirty.set(log, tenantId);
    if (!isLast(topic, payload)) return;
    this.#countOne();
    log.beginAnew();
  }

  isWatched(tenantId: string): boolean {
    return this.#watched.has(tenantId);
  }

  watchedTenants(): Iterable<string> {
    return this.#watched.keys();
  }

  /** Its log is there as long as somebody watches it. */
  isSessionWatched(tenantId: string, sessionId: string): boolean {
    return this.isWatched(tenantId) && this.#logs.get(tenantId)?.has(sessionTopic(sessionId)) === true;
  }

  /** Sends what is pending on every feed. */
  flush(): void {
    for (const [log, tenantId] of this.#dirty) this.#sendPending(tenantId, log);
    this.#dirty.clear();
  }

  /** The newest payloads of a feed, oldest first. */
  newest(tenantId: string, topic: Topic, count: number): unknown[] {
    return this.#log(tenantId, topic).newest(count);
  }

  /**
   * Prepares a subscription. When it resolves, the caller must in the same tick acknowledge, send `rest`
   * and join, or else call `release`.
   * @returns null if the subject does not exist. Rejects as its snapshot does, or where more happens during each one than
   *   the log keeps
   */
  async subscribe(
    tenantId: string,
    topic: Topic,
    afterSeq: number | undefined,
  ): Promise<Subscription | null> {
    const log = this.#watch(tenantId, topic);
    this.#sendPending(tenantId, log);
    if (afterSeq !== undefined) {
      const events = log.since(afterSeq);
      if (events) return { ack: { status: 'ok', kind: 'deltas', topic, seq: log.seq, events }, rest: null };
    }
    const kind = afterSeq === undefined ? 'snapshot' : 'reset';
    try {
      for (let tries = 0; tries < SNAPSHOT_TRIES_MAX; tries += 1) {
        await this.#ownTurn();
        const seq = log.seq;
        const snapshot = await this.#snapshot(tenantId, topic);
        if (snapshot === null) {
          this.release(tenantId, topic);
          return null;
        }
        this.#sendPending(tenantId, log);
        const missed = log.since(seq);
        // More happened meanwhile than the log keeps: this snapshot is too old to build on.
        if (missed === null) continue;
        const rest = missed.length > 0 ? { topic, from_seq: seq + 1, to_seq: log.seq, events: missed } : null;
        return { ack: { status: 'ok', kind, topic, seq, snapshot }, rest };
      }
      throw new Error(`${SNAPSHOT_TRIES_MAX} snapshots of ${topic} were each too old when they were there`);
    } catch (error) {
      this.release(tenantId, topic);
      throw error;
    }
  }

  /** A subscriber left, or its subscription came to nothing. */
  release(tenantId: string, topic: Topic): void {
    const log = this.#logs.get(tenantId)?.get(topic);
    if (log === undefined) return;
    log.unwatch();
    if (log.isWatched) return;
    const watched = this.#watched.get(tenantId);
    if (topic.startsWith(SESSION_PREFIX)) this.#logs.get(tenantId)?.delete(topic);
    if (!watched?.delete(log) || watched.size > 0) return;
    this.#watched.delete(tenantId);
    this.#forgetUnknown(tenantId);
  }

  /** Of a tenant of which nothing was told but what whoever looks is told: an operator of all tenants may name any. */
  #forgetUnknown(tenantId: string): void {
    const logs = [...(this.#logs.get(tenantId)?.values() ?? [])];
    if (logs.every(({ topic, isEmpty }) => isEmpty || topic === TOPICS.stats)) this.#logs.delete(tenantId);
  }

  /** A turn of the event loop for each snapshot and its encoding: after a restart all subscribers ask for all of them at once. */
  #ownTurn(): Promise<void> {
    this.#turn = this.#turn.then(() => setImmediate());
    return this.#turn;
  }

  async #snapshot(tenantId: string, topic: Topic): Promise<unknown> {
    const source = this.#snapshots.get(topic.startsWith(SESSION_PREFIX) ? SESSION_PREFIX : topic);
    return source ? source(tenantId, topic) : [];
  }

  /** Also while its snapshot is still being taken. */
  #watch(tenantId: string, topic: Topic): TopicLog {
    const log = this.#log(tenantId, topic);
    log.watch();
    const watched = this.#watched.get(tenantId) ?? new Set();
    this.#watched.set(tenantId, watched.add(log));
    return log;
  }

  #log(tenantId: string, topic: string): TopicLog {
    let topics = this.#logs.get(tenantId);
    if (topics === undefined) {
      topics = new Map();
      this.#logs.set(tenantId, topics);
    }
    let log = topics.get(topic);
    if (log === undefined) {
      const recentCountMax = topic.startsWith(SESSION_PREFIX) ? SESSION_RECENT_COUNT_MAX : RECENT_COUNT_MAX;
      log = new TopicLog(topic, {
        startSeq: this.#count,
        recentCountMax,
        recentCharsMax: RECENT_CHARS_MAX,
        viewOf: this.#options.views?.[topic],
      });
      topics.set(topic, log);
    }
    return log;
  }

  #sendPending(tenantId: string, log: TopicLog): void {
    const frame = log.takeFrame();
    if (frame) this.#send(tenantId, frame);
  }

  /** Reserves the next block well before this one ends. */
  #countOne(): void {
    this.#count += 1;
    if (this.#reserving || this.#count < this.#reservedUpTo - SEQUENCE_BLOCK / 2) return;
    this.#reserving = true;
    this.#options
      .reserveSequences(SEQUENCE_BLOCK)
      .then((first) => {
        this.#reservedUpTo = first + SEQUENCE_BLOCK;
      })
      .catch(this.#options.onReserveFailed)
      .finally(() => {
        this.#reserving = false;
      });
  }
}
