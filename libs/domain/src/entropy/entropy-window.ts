/**
 * One session's sliding window: the last N tuples in order of arrival. A ring written flat into one array, because
 * with many sessions every object followed is a cache miss, and a million windows must fit in memory:
 *
 *     slots   | status intent tool | status intent tool | ...      3 places to a tuple
 *               ^ 0                  ^ head = the oldest, once the ring is full
 *
 * Equal tuples share their strings, so that inside the window equality is identity, and the number of distinct
 * tuples is kept up to date by every push instead of being recounted. Neither scores nor knows thresholds.
 *
 * @see FR-9.2
 */
import type { ActionStatus, EntropyTuple, Severity } from '#contracts';
import type { RepeatedTuple } from './entropy-score.js';

/** Places of a tuple in the flat array, relative to its first. */
const STATUS = 0;
const INTENT = 1;
const TOOL = 2;
const WIDTH = 3;

export class EntropyWindow {
  /** Always `WIDTH` times the capacity long. */
  #slots: string[];
  /** Place of the oldest tuple; 0 until the ring is full. */
  #head = 0;
  #size = 0;
  #uniqueCount = 0;
  /** Agent of the latest step; "" while unknown. */
  agentId = '';
  /** Of the latest score. */
  severity: Severity = 'normal';
  /** Agents whose nodes were coloured since the session was last normal; undefined for none. */
  flaggedAgentIds: string[] | undefined = undefined;
  /** Filled from the store, possibly with nothing: there is no history left to fetch. */
  isRestored = false;
  /** Minute of the clock in which it last counted as used. */
  usedMinute = 0;

  /** @param capacity tuples, at least 1 */
  constructor(capacity: number) {
    this.#slots = new Array(capacity * WIDTH).fill('');
  }

  get size(): number {
    return this.#size;
  }

  get capacity(): number {
    return this.#slots.length / WIDTH;
  }

  /** Distinct tuples among those in the window. */
  get uniqueCount(): number {
    return this.#uniqueCount;
  }

  /** Appends; the oldest leaves a full window. Two passes over the window at most, nothing allocated. */
  push(tuple: EntropyTuple): void {
    const slots = this.#slots;
    const equal = this.#find(tuple.action_status, tuple.intent, tuple.tool_call);
    const isNew = equal < 0;
    const intent = isNew ? tuple.intent : slots[equal + INTENT];
    const tool = isNew ? tuple.tool_call : slots[equal + TOOL];
    if (isNew) this.#uniqueCount += 1;

    const isFull = this.#size * WIDTH === slots.length;
    const place = isFull ? this.#head : this.#size * WIDTH;
    const oldStatus = slots[place + STATUS];
    const oldIntent = slots[place + INTENT];
    const oldTool = slots[place + TOOL];
    slots[place + STATUS] = tuple.action_status;
    slots[place + INTENT] = intent as string;
    slots[place + TOOL] = tool as string;
    if (!isFull) {
      this.#size += 1;
      return;
    }
    this.#head = place + WIDTH === slots.length ? 0 : place + WIDTH;
    // Asked with the new tuple in place, so that one that replaces its equal takes nothing away.
    if (this.#find(oldStatus, oldIntent, oldTool) < 0) this.#uniqueCount -= 1;
  }

  /** Keeps the newest tuples. */
  resize(capacity: number): void {
    const kept = this.toArray().slice(-capacity);
    this.#slots = new Array(capacity * WIDTH).fill('');
    this.#head = 0;
    this.#size = 0;
    this.#uniqueCount = 0;
    for (const tuple of kept) this.push(tuple);
  }

  /** The most frequent tuple, of equally frequent ones the most recent; undefined when empty. @see FR-9.7 */
  mostFrequent(): RepeatedTuple | undefined {
    let most = -1;
    let mostCount = 0;
    for (let index = this.#size - 1; index >= 0; index -= 1) {
      const place = this.#placeOf(index);
      const count = this.#countOf(place);
      if (count > mostCount) {
        most = place;
        mostCount = count;
      }
    }
    return most < 0 ? undefined : { tuple: this.#tupleAt(most), count: mostCount };
  }

  /** Oldest first. */
  toArray(): EntropyTuple[] {
    return Array.from({ length: this.#size }, (_, index) => this.#tupleAt(this.#placeOf(index)));
  }

  /** Place of a tuple with these parts, -1 if there is none. */
  #find(status: string | undefined, intent: string | undefined, tool: string | undefined): number {
    const slots = this.#slots;
    const end = this.#size * WIDTH;
    for (let place = 0; place < end; place += WIDTH) {
      // The status first: there are four of them, always in the cache, where the texts seldom are.
      if (
        slots[place + STATUS] === status &&
        slots[place + INTENT] === intent &&
        slots[place + TOOL] === tool
      ) {
        return place;
      }
    }
    return -1;
  }

  /** @param index 0 is the oldest tuple */
  #placeOf(index: number): number {
    return (this.#head + index * WIDTH) % this.#slots.length;
  }

  /** Tuples in the window that equal the one at `place`, itself included. */
  #countOf(place: number): number {
    const slots = this.#slots;
    let count = 0;
    for (let other = 0; other < this.#size * WIDTH; other += WIDTH) {
      if (
        slots[other + STATUS] === slots[place + STATUS] &&
        slots[other + INTENT] === slots[place + INTENT] &&
        slots[other + TOOL] === slots[place + TOOL]
      ) {
        count += 1;
      }
    }
    return count;
  }

  #tupleAt(place: number): EntropyTuple {
    return {
      intent: this.#slots[place + INTENT] as string,
      tool_call: this.#slots[place + TOOL] as string,
      action_status: this.#slots[place + STATUS] as ActionStatus,
    };
  }
}
