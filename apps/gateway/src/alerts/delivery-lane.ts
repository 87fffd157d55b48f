/** The deliveries of one channel that are not finished, and the channel's circuit. */
import type { AlertChannel, AlertDelivery } from '#contracts';
import { type Circuit, CLOSED_CIRCUIT, decideSending } from '#domain/alerts';

/** At once through one channel, so that a slow one does not take every place. */
export const RUNNING_PER_CHANNEL_MAX = 2;

export interface Entry {
  delivery: AlertDelivery;
  /** Nothing is done with it before. */
  dueMs: number;
  /** When it was made, or put back by an operator: its age counts from here. */
  sinceMs: number;
  isRunning: boolean;
  /** The store holds what `delivery` says. */
  isSaved: boolean;
}

export class DeliveryLane {
  readonly entries = new Map<string, Entry>();
  circuit: Readonly<Circuit> = CLOSED_CIRCUIT;
  #runningCount = 0;

  /** The next entry to work on now, marked as running; null for none. Longest due first. O(entries). */
  take(nowMs: number): Entry | null {
    const decision = decideSending(this.circuit, nowMs);
    const placeCount = decision === 'trial' ? 1 : RUNNING_PER_CHANNEL_MAX;
    let next: Entry | null = null;
    for (const entry of this.entries.values()) {
      if (entry.isRunning || entry.dueMs > nowMs) continue;
      const isSending = entry.isSaved && entry.delivery.state === 'pending';
      if (isSending && (decision === 'wait' || this.#runningCount >= placeCount)) continue;
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
    let earliestMs: number | null = null;
    for (const { isRunning, dueMs, isSaved, delivery } of this.entries.values()) {
      if (isRunning) continue;
      const isSending = isSaved && delivery.state === 'pending';
      const atMs = isSending ? Math.max(dueMs, this.circuit.retryAtMs ?? 0) : dueMs;
      if (earliestMs === null || atMs < earliestMs) earliestMs = atMs;
    }
    return earliestMs;
  }

  view(): AlertChannel['circuit'] {
    const { retryAtMs } = this.circuit;
    return { state: retryAtMs === null ? 'closed' : 'open', retry_at_ms: retryAtMs };
  }
}
