/**
 * One topic of one tenant: its sequence, its newest events, and those not yet sent.
 *
 *     |<---- recent (bounded) ---->|
 *     e7 e8 e9 e10 | e11 e12          seq = 12
 *        already sent  pending (leave with the next frame; none where nobody watches)
 *
 * Pure: sends nothing, reads no clock.
 */
import type { Frame, LiveEvent } from '#contracts';
import { RingBuffer } from '#kernel';

/** What was published, as a subscriber gets it. */
export type ViewOf = (published: unknown) => unknown;

const asPublished: ViewOf = (published) => published;

export class TopicLog {
  /** Sequence number of the latest event; the number before the first while there is none. */
  seq: number;
  /** As they were published: most are never looked at. */
  readonly #recent: RingBuffer<unknown>;
  /** Of each of these. */
  readonly #chars: RingBuffer<number>;
  readonly #recentCharsMax: number;
  readonly #viewOf: ViewOf;
  #recentChars = 0;
  #pending: LiveEvent[] = [];
  #watcherCount = 0;

  constructor(
    readonly topic: string,
    options: { startSeq: number; recentCountMax: number; recentCharsMax: number; viewOf?: ViewOf },
  ) {
    this.seq = options.startSeq;
    this.#recent = new RingBuffer(options.recentCountMax);
    this.#chars = new RingBuffer(options.recentCountMax);
    this.#viewOf = options.viewOf ?? asPublished;
    this.#recentCharsMax = options.recentCharsMax;
  }

  /** @param chars of the payload as JSON, about; 0 where it is short by its nature */
  append(published: unknown, chars = 0): void {
    this.seq += 1;
    this.#recent.push(published);
    this.#recentChars += chars - (this.#chars.push(chars) ?? 0);
    while (this.#recentChars > this.#recentCharsMax && this.#recent.size > 1) {
      this.#recent.shift();
      this.#recentChars -= this.#chars.shift() as number;
    }
    if (this.#watcherCount > 0) this.#pending.push({ seq: this.seq, payload: this.#viewOf(published) });
  }

  /** Of what was sent nothing goes on: a number that nobody gets lies between it and what comes, so that whoever has it asks anew. */
  beginAnew(): void {
    this.seq += 1;
    while (this.#recent.shift() !== undefined) this.#chars.shift();
    this.#recentChars = 0;
  }

  get isEmpty(): boolean {
    return this.#recent.size === 0;
  }

  get isWatched(): boolean {
    return this.#watcherCount > 0;
  }

  /** From here on what is appended waits for a frame. */
  watch(): void {
    this.#watcherCount += 1;
  }

  /** With the last watcher goes what waited for it. */
  unwatch(): void {
    this.#watcherCount = Math.max(0, this.#watcherCount - 1);
    if (this.#watcherCount === 0) this.#pending = [];
  }

  /** The next frame, or null if nothing is pending. */
  takeFrame(): Frame | null {
    const events = this.#pending;
    if (events.length === 0) return null;
    this.#pending = [];
    return this.#frame(events);
  }

  /** Events after `afterSeq`, or null if some of them are gone or `afterSeq` is not of this topic's past. */
  since(afterSeq: number): LiveEvent[] | null {
    const missed = this.seq - afterSeq;
    if (missed < 0 || missed > this.#recent.size) return null;
    const events: LiveEvent[] = [];
    for (let seq = afterSeq + 1; seq <= this.seq; seq += 1)
      events.push({ seq, payload: this.#viewOf(this.#recent.at(this.#recent.size - 1 - (this.seq - seq))) });
    return events;
  }

  /** The newest `count` payloads, oldest first. */
  newest(count: number): unknown[] {
    return (this.since(this.seq - Math.min(count, this.#recent.size)) ?? []).map((event) => event.payload);
  }

  #frame(events: LiveEvent[]): Frame {
    const first = events[0] as LiveEvent;
    return { topic: this.topic, from_seq: first.seq, to_seq: first.seq + events.length - 1, events };
  }
}
