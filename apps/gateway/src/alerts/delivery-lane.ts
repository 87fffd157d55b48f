/**
 * The deliveries of one channel that are not finished, and the channel's circuit. Those of one alert go one after another, in
 * their order: whoever is told that it is over was told that it began.
 */
import type { AlertChannel, AlertDelivery } from '#contracts';
import { type ChannelCircuit, CLOSED_CIRCUIT, decideSending, restsUntilMs } from '#domain/alerts';

/** At once through one channel, so that a slow one does not take every place. */
const RUNNING_PER_CHANNEL_MAX = 2;

export interface Entry {
  delivery: AlertDelivery;
  /** Not sent before. */
  dueMs: number;
  /** When `dueMs` was said. A clock that shows less was set back since, and would put it off by as much. */
  dueSaidMs: number;
  /** When it was made, or put back by an operator, by the steady clock: its age counts from here. */
  sinceSteadyMs: number;
  /** It has a place: an attempt is under way, or the write of what came of it. */
  isRunning: boolean;
  /** The store is writing it. */
  isWriting: boolean;
  /** The store holds what `delivery` says. Nothing is sent before. */
  isSaved: boolean;
}

/** Of a channel that takes what it is sent. */
export const CLOSED_VIEW: AlertChannel['circuit'] = { state: 'closed', retry_at_ms: null, reason: null };

const isToBeSent = ({ isRunning, isSaved }: Entry): boolean => !isRunning && isSaved;

/** What is firing, or over: a rule's condition at an agent. */
const alertOf = ({ delivery: { notice } }: Entry): string => `${notice.rule_id} ${notice.agent_id}`;

/** As they were stored; what is not yet is the newest. */
const placeOf = ({ delivery: { seq } }: Entry): number => (seq === 0 ? Number.POSITIVE_INFINITY : seq);

/**
 * What has arrived, or is dead, stands in nobody's way while that is written. One under way is not the oldest where an older
 * one was put back meanwhile.
 */
function firstOf(waiting: Iterable<Entry>): Entry | null {
  let oldest: Entry | null = null;
  for (const entry of waiting) {
    if (entry.delivery.state !== 'pending') continue;
    if (entry.isRunning) return entry;
    oldest ??= entry;
  }
  return oldest;
}

const isDue = ({ dueMs, dueSaidMs }: Entry, nowMs: number): boolean => dueMs <= nowMs || nowMs < dueSaidMs;

export class DeliveryLane {
  readonly tenantId: string;
  readonly #entries = new Map<string, Entry>();
  /** By alert, the oldest first. */
  readonly #alerts = new Map<string, Set<Entry>>();
  circuit: Readonly<ChannelCircuit> = CLOSED_CIRCUIT;
  /** Of the latest attempt; null: it arrived. */
  failure: { reason: string; isFinal: boolean } | null = null;
  /** How often it was woken: what an attempt from before that came to says nothing of the channel that it is now. */
  wokenCount = 0;
  #runningCount = 0;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /** By delivery id. */
  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  /** Among those of its alert that are here, behind those that were stored before it: one that is put back may be older. */
  add(entry: Entry): void {
    this.#entries.set(entry.delivery.delivery_id, entry);
    const alert = alertOf(entry);
    const waiting = this.#alerts.get(alert) ?? new Set();
    this.#alerts.set(alert, waiting);
    const later = [...waiting].filter((other) => placeOf(other) > placeOf(entry));
    for (const other of later) waiting.delete(other);
    for (const one of [entry, ...later]) waiting.add(one);
  }

  /** What it waits for is tried now, and not in hours. */
  hasten(entry: Entry, nowMs: number): void {
    const first = firstOf(this.#alerts.get(alertOf(entry)) ?? []);
    if (first !== null && first.dueMs > nowMs) Object.assign(first, { dueMs: nowMs, dueSaidMs: nowMs });
  }

  /** Others of its alert that are not on disk and not on their way there, in their order. */
  refused(entry: Entry): Entry[] {
    const all = [...(this.#alerts.get(alertOf(entry)) ?? [])];
    return all.filter((other) => other !== entry && !other.isSaved && !other.isWriting);
  }

  remove(entry: Entry): void {
    this.#entries.delete(entry.delivery.delivery_id);
    const alert = alertOf(entry);
    const waiting = this.#alerts.get(alert);
    waiting?.delete(entry);
    if (waiting?.size === 0) this.#alerts.delete(alert);
  }

  /** The next entry to send now, marked as running; null for none. Longest due first. O(entries) where there is a place. */
  take(nowMs: number): Entry | null {
    const decision = decideSending(this.circuit, nowMs);
    const placeCount = decision === 'trial' ? 1 : RUNNING_PER_CHANNEL_MAX;
    if (decision === 'wait' || this.#runningCount >= placeCount) return null;
    let next: Entry | null = null;
    for (const waiting of this.#alerts.values()) {
      const entry = firstOf(waiting);
      if (entry === null || !isToBeSent(entry) || !isDue(entry, nowMs)) continue;
      if (next === null || entry.dueMs < next.dueMs) next = entry;
    }
    if (next === null) return null;
    next.isRunning = true;
    this.#runningCount += 1;
    return next;
  }

  release(entry: Entry): void {
    entry.isRunning = false;
    this.#runningCount -= 1;
  }

  /** When `take` may have something again, if nothing ends before; null: not by time alone. */
  nextDueMs(nowMs: number): number | null {
    if (this.#runningCount >= RUNNING_PER_CHANNEL_MAX) return null;
    const restsMs = restsUntilMs(this.circuit, nowMs) ?? nowMs;
    let earliestMs: number | null = null;
    for (const waiting of this.#alerts.values()) {
      const entry = firstOf(waiting);
      if (entry === null || !isToBeSent(entry)) continue;
      const atMs = Math.max(isDue(entry, nowMs) ? nowMs : entry.dueMs, restsMs);
      if (earliestMs === null || atMs < earliestMs) earliestMs = atMs;
    }
    return earliestMs;
  }

  view(): AlertChannel['circuit'] {
    const { retryAtMs, isAsked } = this.circuit;
    const isOpen = retryAtMs !== null;
    if (!isOpen && this.failure?.isFinal !== true) return CLOSED_VIEW;
    const state = isOpen ? (isAsked ? 'resting' : 'open') : 'refusing';
    return { state, retry_at_ms: retryAtMs, reason: this.failure?.reason ?? null };
  }

  /** Nothing is to be remembered of it: without a failure its circuit is closed. */
  get isIdle(): boolean {
    return this.#entries.size === 0 && this.failure === null;
  }

  /** The channel is another now: what waits is tried at once. */
  wake(nowMs: number): void {
    this.heal();
    this.wokenCount += 1;
    for (const entry of this.#entries.values()) entry.dueMs = Math.min(entry.dueMs, nowMs);
  }

  /** What it went through says nothing of what comes. */
  heal(): void {
    this.circuit = CLOSED_CIRCUIT;
    this.failure = null;
  }
}
