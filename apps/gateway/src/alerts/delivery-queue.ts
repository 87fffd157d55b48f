/**
 * Carries notices to channels, at least once. A delivery is in the store as pending before its first attempt, and a
 * process that finds pending ones at its start goes on with them; its id travels with each attempt, so that a receiver
 * can drop what it has seen. What is told of one alert arrives in its order. Writing waits for no attempt, and attempts of one
 * tenant leave room for those of others.
 *
 *     pending --2xx--> delivered
 *        |  ^--wait, longer each time-- failed, worth another try
 *        +--refused for good, last attempt, a day old, channel gone--> dead --Retry--> pending
 */
import {
  type AlertChannel,
  type AlertChannelBody,
  type AlertDelivery,
  type AlertNotice,
  type LivePublisher,
  ObservatoryError,
  type ProxyStore,
} from '#contracts';
import { afterFailure, retryDelayMs, retryDelayMsMax, type SendOutcome } from '#domain/alerts';
import { BackgroundWork, type Clock, DAY_MS, FreshReads, type IdSource, type Timer } from '#kernel';
import type { AlertTelemetry } from './alert-telemetry.js';
import { CHANNEL_GONE } from './channel-record.js';
import { CLOSED_VIEW, type DeliveryLane, type Entry } from './delivery-lane.js';
import { DeliveryWriter } from './delivery-writer.js';
import { LaneRota } from './lane-rota.js';

/** At once, over all channels. */
const RUNNING_MAX = 32;
/** Unfinished per channel; a further one is dead at once, and can be put back. */
export const PENDING_PER_CHANNEL_MAX = 1_000;
/** Of those that are dead at once, as many per channel wait for a store that refuses them; a further one is lost. */
export const REFUSED_PER_CHANNEL_MAX = 100;
/** However few attempts it had. */
const DELIVERY_AGE_MS_MAX = DAY_MS;
/** A shutdown waits this long for writes and for attempts under way; what is later is sent again by the next process. */
const DRAIN_MS = 3_000;

export interface DeliveryQueueOptions {
  store: Pick<ProxyStore, 'saveDelivery' | 'delivery' | 'pendingDeliveries'>;
  live: LivePublisher;
  clock: Clock;
  ids: IdSource;
  timer: Timer;
  /** 0..1, for jitter. */
  random: () => number;
  /** A string says why the channel cannot be used. */
  openChannel(tenantId: string, channelId: string): AlertChannelBody | string;
  send(channel: AlertChannelBody, notice: AlertNotice, deliveryId: string): Promise<SendOutcome>;
  telemetry: AlertTelemetry;
}

/** Names a rule among those of all tenants. */
export const ruleKey = (tenantId: string, ruleId: string | null): string => `${tenantId} ${ruleId}`;

export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions;
  readonly #lanes = new LaneRota();
  readonly #writer: DeliveryWriter;
  readonly #running = new BackgroundWork();
  /** By the steady clock, as timers go: one that was set on the wall moves none of them. */
  #wake: { atSteadyMs: number; cancel: () => void } | null = null;
  /** Of deliveries to be put back; one that is finished meanwhile is not ours any more. */
  readonly #reads = new FreshReads<string>();
  #lastSeq = 0;
  #isStopped = false;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    const { store, live, timer, telemetry } = options;
    const onWritten = (entry: Entry) => this.#noteWritten(entry);
    this.#writer = new DeliveryWriter({ store, live, timer, telemetry, onWritten });
  }

  /** Unfinished ones. O(channels). */
  get pendingCount(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) count += lane.entries.size;
    return count;
  }

  /** Of the delivery that was stored last; 0: none was. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** How many more may wait for this channel. */
  roomOf(channelId: string): number {
    return PENDING_PER_CHANNEL_MAX - (this.#lanes.get(channelId)?.entries.size ?? 0);
  }

  /** Goes on with what an earlier process left. Rejects as the store does. */
  async resume(): Promise<void> {
    const { clock, store } = this.#options;
    const nowMs = clock.nowMs();
    for (const delivery of await store.pendingDeliveries()) {
      const { next_attempt_at_ms, created_at_ms, attempt_count } = delivery;
      // The clock may have been ahead when it was put off.
      const dueMs = Math.min(next_attempt_at_ms ?? created_at_ms, nowMs + retryDelayMsMax(attempt_count));
      const ageMs = nowMs - Math.max(dueMs, Math.min(created_at_ms, nowMs));
      const sinceSteadyMs = clock.steadyMs() - ageMs;
      this.#add({ delivery, dueMs, dueSaidMs: nowMs, sinceSteadyMs, isSaved: true });
    }
    this.#pump();
  }

  /**
   * Takes it, unless the channel's places are taken and the store refuses; never throws. Where the store refuses it for
   * now, it is written before its first attempt all the same.
   */
  enqueue(notice: AlertNotice, channelId: string): void {
    const { clock, ids, telemetry } = this.#options;
    const keptCount = this.#lanes.get(channelId)?.entries.size ?? 0;
    if (keptCount >= PENDING_PER_CHANNEL_MAX + REFUSED_PER_CHANNEL_MAX && this.#writer.isRefused) {
      telemetry.boundReached('channel_queue_lost');
      return;
    }
    const nowMs = clock.nowMs();
    const delivery: AlertDelivery = {
      delivery_id: `dlv_${ids.next()}`,
      seq: 0,
      channel_id: channelId,
      notice,
      state: 'pending',
      attempt_count: 0,
      next_attempt_at_ms: nowMs,
      last_error: null,
      created_at_ms: nowMs,
      finished_at_ms: null,
    };
    if (keptCount >= PENDING_PER_CHANNEL_MAX) {
      telemetry.boundReached('channel_queue');
      this.#finish(delivery, 'dead', `${PENDING_PER_CHANNEL_MAX} deliveries wait for this channel already`);
    }
    const times = { dueMs: nowMs, dueSaidMs: nowMs, sinceSteadyMs: clock.steadyMs() };
    const entry = this.#add({ delivery, ...times, isSaved: false });
    const lane = this.#lanes.open(notice.tenant_id, channelId);
    lane.hasten(entry, nowMs);
    // What the store refused before it goes first: the next process goes on in the order in which they are stored.
    for (const one of lane.refused(entry)) void this.#writer.write(one);
    void this.#writer.write(entry);
  }

  /**
   * Puts a dead delivery back with all its attempts before it, or brings a waiting one forward; also where the channel
   * rests. A delivered one stays as it is.
   * @param record durable when it settles; where it rejects, so does this, and nothing has changed
   * @throws ObservatoryError delivery_not_found; alert_channel_not_found where its channel was removed
   */
  async retry(
    tenantId: string,
    deliveryId: string,
    record: (delivery: AlertDelivery) => Promise<void>,
  ): Promise<AlertDelivery> {
    await record(await this.#retriable(tenantId, deliveryId));
    const stored = await this.#retriable(tenantId, deliveryId);
    const known = this.#lanes.get(stored.channel_id)?.entries.get(deliveryId);
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    if (known?.isRunning || known?.isWriting) return structuredClone(known.delivery);
    // Where the store refused the outcome, only we know that it has arrived.
    const delivery = known?.delivery ?? stored;
    if (delivery.state === 'delivered') return structuredClone(delivery);
    if (delivery.state === 'dead') Object.assign(delivery, { attempt_count: 0, last_error: null });
    Object.assign(delivery, { state: 'pending', next_attempt_at_ms: nowMs, finished_at_ms: null });
    const times = { dueMs: nowMs, dueSaidMs: nowMs, sinceSteadyMs: clock.steadyMs() };
    const entry =
      known === undefined ? this.#add({ delivery, ...times, isSaved: false }) : Object.assign(known, times);
    const lane = this.#lanes.open(tenantId, stored.channel_id);
    lane.hasten(entry, nowMs);
    if (lane.circuit.retryAtMs !== null) lane.circuit = { ...lane.circuit, retryAtMs: nowMs };
    void this.#writer.write(entry);
    return structuredClone(delivery);
  }

  circuit(channelId: string): AlertChannel['circuit'] {
    return this.#lanes.get(channelId)?.view() ?? CLOSED_VIEW;
  }

  /** The channel was changed, tested well or removed: what waits for it is tried at once. */
  wakeChannel(channelId: string): void {
    const lane = this.#lanes.get(channelId);
    if (lane === undefined) return;
    lane.wake(this.#options.clock.nowMs());
    if (lane.entries.size === 0) this.#lanes.close(channelId);
    this.#pump();
  }

  /** The rules, by `ruleKey`, some of whose notices would be lost if the process ended now. */
  unwrittenRules(): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const { notice } of this.#writer.neverWritten()) keys.add(ruleKey(notice.tenant_id, notice.rule_id));
    return keys;
  }

  /**
   * Starts no more attempts, writes down what is not, and waits a little for what is under way; what came of that is written, too, or
   * the next process would send it again. What is pending stays in the store.
   */
  async drain(): Promise<void> {
    this.#isStopped = true;
    this.#wake?.cancel();
    this.#writer.stop();
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#options.timer.after(DRAIN_MS, resolve);
    });
    const isOver = Promise.allSettled([this.#writer.finish(), this.#running.settled()]).then(() =>
      this.#writer.finish(),
    );
    await Promise.race([isOver, late]);
    cancel();
  }

  #add(given: Omit<Entry, 'isRunning' | 'isWriting'>): Entry {
    const entry: Entry = { ...given, isRunning: false, isWriting: false };
    const { channel_id, notice } = entry.delivery;
    this.#lanes.open(notice.tenant_id, channel_id).add(entry);
    return entry;
  }

  /** As it is stored. @throws ObservatoryError delivery_not_found; alert_channel_not_found for what still has to go there */
  async #retriable(tenantId: string, deliveryId: string): Promise<AlertDelivery> {
    const stored = await this.#stored(tenantId, deliveryId);
    const known = this.#lanes.get(stored.channel_id)?.entries.get(deliveryId);
    const isDelivered = (known?.delivery ?? stored).state === 'delivered';
    if (!isDelivered && this.#options.openChannel(tenantId, stored.channel_id) === CHANNEL_GONE)
      throw new ObservatoryError('alert_channel_not_found', 'The channel of this delivery was removed.');
    return stored;
  }

  /** As the store has it once no attempt of ours has ended since it was read. @throws ObservatoryError delivery_not_found */
  async #stored(tenantId: string, deliveryId: string): Promise<AlertDelivery> {
    const stored = await this.#reads.read(deliveryId, () =>
      this.#options.store.delivery(tenantId, deliveryId),
    );
    if (stored === null) throw new ObservatoryError('delivery_not_found');
    return stored;
  }

  /** Starts what is due, as far as there is room; then sleeps until the next is. */
  #pump(): void {
    if (this.#isStopped) return;
    const nowMs = this.#options.clock.nowMs();
    while (this.#running.size < RUNNING_MAX) {
      const next = this.#lanes.take(nowMs);
      if (next === null) break;
      const { lane, entry } = next;
      void this.#running.add(this.#work(lane, entry)).finally(() => {
        this.#lanes.release(lane, entry);
        this.#pump();
      });
    }
    this.#sleep(nowMs);
  }

  #sleep(nowMs: number): void {
    let earliestMs: number | null = null;
    // Every place taken: the end of any attempt pumps again.
    if (this.#running.size >= RUNNING_MAX) return;
    for (const lane of this.#lanes.values()) {
      const atMs = lane.nextDueMs(nowMs);
      // Due, but its channel has no place: the same.
      if (atMs !== null && atMs > nowMs && (earliestMs === null || atMs < earliestMs)) earliestMs = atMs;
    }
    if (earliestMs === null) return;
    const { clock, timer } = this.#options;
    const delayMs = earliestMs - nowMs;
    const atSteadyMs = clock.steadyMs() + delayMs;
    if (this.#wake !== null && this.#wake.atSteadyMs <= atSteadyMs) return;
    this.#wake?.cancel();
    const fire = () => {
      this.#wake = null;
      this.#pump();
    };
    this.#wake = { atSteadyMs, cancel: timer.after(delayMs, fire) };
  }

  /** One attempt, and what came of it written down. Never rejects. */
  async #work(lane: DeliveryLane, entry: Entry): Promise<void> {
    await this.#attempt(lane, entry);
    await this.#writer.write(entry);
  }

  #noteWritten(entry: Entry): void {
    const { delivery_id, channel_id, state, seq } = entry.delivery;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    const lane = this.#lanes.get(channel_id);
    if (state !== 'pending' && lane !== undefined) {
      this.#reads.changed(delivery_id);
      lane.remove(entry);
      const isGone = () => this.#options.openChannel(lane.tenantId, channel_id) === CHANNEL_GONE;
      if (lane.isIdle || (lane.entries.size === 0 && isGone())) this.#lanes.close(channel_id);
    }
    this.#pump();
  }

  async #attempt(lane: DeliveryLane, entry: Entry): Promise<void> {
    const { openChannel, send, clock, random, telemetry } = this.#options;
    const { delivery } = entry;
    const { tenant_id } = delivery.notice;
    const channel = openChannel(tenant_id, delivery.channel_id);
    if (typeof channel === 'string') {
      lane.failure = { reason: channel, isFinal: true };
      return this.#finish(delivery, 'dead', channel);
    }
    const { wokenCount } = lane;
    const outcome = await send(channel, delivery.notice, delivery.delivery_id);
    delivery.attempt_count += 1;
    if (outcome.ok) {
      lane.heal();
      telemetry.attempted(delivery, channel.kind, 'delivered');
      return this.#finish(delivery, 'delivered', outcome.shortfall ?? null);
    }
    const nowMs = clock.nowMs();
    delivery.last_error = outcome.reason;
    if (lane.wokenCount !== wokenCount) {
      telemetry.attempted(delivery, channel.kind, 'failed');
      return putOff(entry, nowMs, 0);
    }
    lane.failure = { reason: outcome.reason, isFinal: !outcome.retryable };
    if (!outcome.retryable) {
      telemetry.attempted(delivery, channel.kind, 'refused');
      return this.#finish(delivery, 'dead', outcome.reason);
    }
    telemetry.attempted(delivery, channel.kind, 'failed');
    this.#noteFailure(lane, delivery.channel_id, nowMs, outcome.retryAfterMs);
    const delayMs = retryDelayMs(delivery.attempt_count, random(), outcome.retryAfterMs);
    const isTooOld = clock.steadyMs() - entry.sinceSteadyMs >= DELIVERY_AGE_MS_MAX;
    if (delayMs === null || isTooOld) return this.#finish(delivery, 'dead', outcome.reason);
    putOff(entry, nowMs, delayMs);
  }

  #noteFailure(lane: DeliveryLane, channelId: string, nowMs: number, restMs: number | null): void {
    const before = lane.circuit.retryAtMs;
    lane.circuit = afterFailure(lane.circuit, nowMs, restMs);
    const { retryAtMs, isAsked } = lane.circuit;
    if (retryAtMs !== null && retryAtMs !== before)
      this.#options.telemetry.circuitOpened(channelId, retryAtMs, isAsked);
  }

  #finish(delivery: AlertDelivery, state: 'delivered' | 'dead', lastError: string | null): void {
    const finished_at_ms = this.#options.clock.nowMs();
    Object.assign(delivery, { state, last_error: lastError, next_attempt_at_ms: null, finished_at_ms });
    this.#options.telemetry.finished(delivery);
  }
}

function putOff(entry: Entry, nowMs: number, delayMs: number): void {
  Object.assign(entry, { dueMs: nowMs + delayMs, dueSaidMs: nowMs });
  entry.delivery.next_attempt_at_ms = entry.dueMs;
}
