/**
 * One session's sliding window: the last N tuples in order of arrival. A ring written flat into one array, because
 * with many sessions every object followed is a cache miss, and a million windows must fit in memory:
 *
 *     slots   | digest chars | digest chars | ... | status intent tool | status intent tool | ...
 *               ^ 0   2 places to a tuple           ^ 2N  3 places to a tuple
 *
 * Tuples are told apart by their digests, which lie side by side; the texts, each a miss of its own, are looked at
 * only where two digests agree, and then decide. Equal tuples share their texts, and the number of distinct tuples
 * is kept up to date by every push instead of being recounted. Neither scores nor knows thresholds.
 *
 * @see FR-9.2
 */
import type { ActionStatus, EntropyTuple, SessionKey, Severity } from '#contracts';
import type { RepeatedTuple } from './entropy-score.js';

/** Places of a tuple's numbers, relative to its first. */
const DIGEST = 0;
const CHARS = 1;
const NUMBERS = 2;
/** Places of its texts, likewise. */
const STATUS = 0;
const INTENT = 1;
const TOOL = 2;
const TEXTS = 3;
/** Places of a tuple altogether. */
const WIDTH = NUMBERS + TEXTS;

export class EntropyWindow {
  /** Always `WIDTH` times the capacity long. */
  #slots: (string | number)[];
  #capacity: number;
  /** Index of the oldest tuple; 0 until the ring is full. */
  #head = 0;
  #size = 0;
  #uniqueCount = 0;
  #textChars = 0;
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
  constructor(
    readonly key: SessionKey,
    capacity: number,
  ) {
    this.#capacity = capacity;
    this.#slots = emptySlots(capacity);
  }

  get size(): number {
    return this.#size;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Distinct tuples among those in the window. */
  get uniqueCount(): number {
    return this.#uniqueCount;
  }

  /** Characters of the distinct tuples' texts, which is what the window keeps in memory besides its places. */
  get textChars(): number {
    return this.#textChars;
  }

  /** Appends; the oldest leaves a full window. Two passes over the digests at most, nothing allocated. */
  push(tuple: EntropyTuple): void {
    const slots = this.#slots;
    const capacity = this.#capacity;
    const { action_status, intent, tool_call } = tuple;
    const digest = digestOf(action_status, intent, tool_call);
    const equal = this.#find(digest, action_status, intent, tool_call);

    const isFull = this.#size === capacity;
    const index = isFull ? this.#head : this.#size;
    const number = index * NUMBERS;
    const place = capacity * NUMBERS + index * TEXTS;
    const oldDigest = slots[number + DIGEST] as number;
    const oldChars = slots[number + CHARS] as number;
    const oldStatus = slots[place + STATUS] as string;
    const oldIntent = slots[place + INTENT] as string;
    const oldTool = slots[place + TOOL] as string;
    const from = capacity * NUMBERS + equal * TEXTS;
    const isNew = equal < 0;
    const chars = intent.length + tool_call.length;
    if (isNew) {
      this.#uniqueCount += 1;
      this.#textChars += chars;
    }
    slots[number + DIGEST] = digest;
    slots[number + CHARS] = chars;
    slots[place + STATUS] = action_status;
    slots[place + INTENT] = isNew ? intent : (slots[from + INTENT] as string);
    slots[place + TOOL] = isNew ? tool_call : (slots[from + TOOL] as string);
    if (!isFull) {
      this.#size += 1;
      return;
    }
    this.#head = index + 1 === capacity ? 0 : index + 1;
    // Asked with the new tuple in place, so that one that replaces its equal takes nothing away.
    if (this.#find(oldDigest, oldStatus, oldIntent, oldTool) >= 0) return;
    this.#uniqueCount -= 1;
    this.#textChars -= oldChars;
  }

  /** Keeps the newest tuples. */
  resize(capacity: number): void {
    const kept = this.toArray().slice(-capacity);
    this.#capacity = capacity;
    this.#slots = emptySlots(capacity);
    this.#head = 0;
    this.#size = 0;
    this.#uniqueCount = 0;
    this.#textChars = 0;
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
    const tuples: EntropyTuple[] = [];
    for (let age = 0; age < this.#size; age += 1) tuples.push(this.#tupleAt(this.#placeOf(age)));
    return tuples;
  }

  /** Index of a tuple with these parts, -1 if there is none. */
  #find(digest: number, status: string, intent: string, tool: string): number {
    const slots = this.#slots;
    for (let index = 0; index < this.#size; index += 1) {
      if (slots[index * NUMBERS + DIGEST] !== digest) continue;
      const place = this.#capacity * NUMBERS + index * TEXTS;
      if (
        slots[place + STATUS] === status &&
        slots[place + INTENT] === intent &&
        slots[place + TOOL] === tool
      )
        return index;
    }
    return -1;
  }

  /** @param age 0 is the oldest tuple. Returns where its texts begin */
  #placeOf(age: number): number {
    return this.#capacity * NUMBERS + ((this.#head + age) % this.#capacity) * TEXTS;
  }

  /** Tuples in the window that equal the one at `place`, itself included. */
  #countOf(place: number): number {
    const slots = this.#slots;
    let count = 0;
    const first = this.#capacity * NUMBERS;
    const end = first + this.#size * TEXTS;
    for (let other = first; other < end; other += TEXTS) {
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

const emptySlots = (capacity: number): (string | number)[] => {
  const slots: (string | number)[] = new Array(capacity * WIDTH).fill('');
  return slots.fill(0, 0, capacity * NUMBERS);
};

/** Characters of each text that go into a digest, spread over it: all of them would cost more than they tell. */
const DIGEST_CHARS_MAX = 12;

/** 30 bits, so that it is held in the array itself. Equal tuples have equal digests; unequal ones usually not. */
function digestOf(status: string, intent: string, tool: string): number {
  // Status by its second letter: u, a, e and k tell the four apart.
  const start = (status.charCodeAt(1) * 31 + intent.length) * 31 + tool.length;
  return mix(mix(start, intent), tool) & 0x3fffffff;
}

/** FNV-1a over some of the text's characters, its last among them. */
function mix(start: number, text: string): number {
  let digest = start;
  const step = 1 + Math.trunc(text.length / DIGEST_CHARS_MAX);
  for (let at = text.length - 1; at >= 0; at -= step)
    digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193);
  return digest;
}
