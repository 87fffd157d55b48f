/** The deliveries of one channel that are not finished, and the channel's circuit. */
import type { AlertChannel, AlertDelivery } from '#contracts';
import { type ChannelCircuit, CLOSED_CIRCUIT, decideSending } from '#domain/alerts';

/** At once through one channel, so that a slow one does not take every place. */
export const RUNNING_PER_CHANNEL_MAX = 2;

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

const isToBeSent = ({ isRunning, isSaved, delivery }: Entry): boolean =>
  !isRunning && isSaved && delivery.state === 'pending';

const isDue = ({ dueMs, dueSaidMs }: Entry, nowMs: number): boolean => dueMs <= nowMs || nowMs < dueSaidMs;

export class DeliveryLane {
  readonly tenantId: string;
  readonly entries = new Map<string, Entry>();
  circuit: Readonly<ChannelCircuit> = CLOSED_CIRCUIT;
  #runningCount = 0;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /** The next entry to send now, marked as running; null for none. Longest due first. O(entries) where there is a place. */
  take(nowMs: number): Entry | null {
    const decision = decideSending(this.circuit, nowMs);
    const placeCount = decision === 'trial' ? 1 : RUNNING_PER_CHANNEL_MAX;
    if (decision === 'wait' || this.#runningCount >= placeCount) return null;
    let next: Entry | null = null;
    for (const entry of this.entries.values()) {
      if (!isToBeSent(entry) || !isDue(entry, nowMs)) continue;
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
  nextDueMs(): number | null {
    if (this.#runningCount >= RUNNING_PER_CHANNEL_MAX) return null;
    let earliestMs: number | null = null;
    for (const entry of this.entries.values()) {
      if (!isToBeSent(entry)) continue;
      const atMs = Math.max(entry.dueMs, this.circuit.retryAtMs ?? 0);
      if (earliestMs === null || atMs < earliestMs) earliestMs = atMs;
    }
    return earliestMs;
  }

  view(): AlertChannel['circuit'] {
    const { retryAtMs, isAsked } = this.circuit;
    return { state: retryAtMs === null ? 'closed' : isAsked ? 'resting' : 'open', retry_at_ms: retryAtMs };
  }
}
