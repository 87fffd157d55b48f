/**
 * The lanes by turns: a free place goes to the tenant that was served longest ago, and there to the channel that was, so
 * that however much one of them has waiting, and however slow its receivers, the others come next.
 */
import { DeliveryLane, type Entry } from './delivery-lane.js';

/** At once for one tenant: less than there are places, so that its slow receivers leave some to the others. */
export const RUNNING_PER_TENANT_MAX = 24;

interface Turn {
  /** By channel, the one served longest ago first. */
  lanes: Map<string, DeliveryLane>;
  runningCount: number;
}

export class LaneRota {
  readonly #lanes = new Map<string, DeliveryLane>();
  /** The one served longest ago first. */
  readonly #turns = new Map<string, Turn>();

  get(channelId: string): DeliveryLane | undefined {
    return this.#lanes.get(channelId);
  }

  values(): Iterable<DeliveryLane> {
    return this.#lanes.values();
  }

  /** Its lane, made where there is none. */
  open(tenantId: string, channelId: string): DeliveryLane {
    const known = this.#lanes.get(channelId);
    if (known !== undefined) return known;
    const lane = new DeliveryLane(tenantId);
    this.#lanes.set(channelId, lane);
    const turn = this.#turns.get(tenantId) ?? { lanes: new Map(), runningCount: 0 };
    turn.lanes.set(channelId, lane);
    this.#turns.set(tenantId, turn);
    return lane;
  }

  close(channelId: string): void {
    const lane = this.#lanes.get(channelId);
    if (lane === undefined) return;
    this.#lanes.delete(channelId);
    this.#turns.get(lane.tenantId)?.lanes.delete(channelId);
    this.#forgetEmpty(lane.tenantId);
  }

  /** What to send next, marked as running; null where nothing is due that has a place. */
  take(nowMs: number): { lane: DeliveryLane; entry: Entry } | null {
    for (const [tenantId, turn] of this.#turns) {
      if (turn.runningCount >= RUNNING_PER_TENANT_MAX) continue;
      for (const [channelId, lane] of turn.lanes) {
        const entry = lane.take(nowMs);
        if (entry === null) continue;
        turn.runningCount += 1;
        moveToEnd(turn.lanes, channelId);
        moveToEnd(this.#turns, tenantId);
        return { lane, entry };
      }
    }
    return null;
  }

  /** What was taken has ended. */
  release(lane: DeliveryLane, entry: Entry): void {
    lane.release(entry);
    const turn = this.#turns.get(lane.tenantId);
    if (turn !== undefined) turn.runningCount -= 1;
    this.#forgetEmpty(lane.tenantId);
  }

  #forgetEmpty(tenantId: string): void {
    const turn = this.#turns.get(tenantId);
    if (turn?.lanes.size === 0 && turn.runningCount === 0) this.#turns.delete(tenantId);
  }
}

function moveToEnd<K, V>(map: Map<K, V>, key: K): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
