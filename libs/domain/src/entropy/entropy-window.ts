/**
 * One session's sliding window: the last N tuples in order of arrival, seen through a view that is pointed at one row
 * after another. A ring, flat in its row: two places a tuple among the numbers, two among the texts.
 *
 * Tuples are told apart by their digests, which lie side by side and hold the status; the texts, each a cache miss of
 * its own, are looked at only where two digests agree, and then decide. Equal tuples share their texts, and the number of distinct tuples
 * is kept up to date by every push instead of being recounted. Neither scores nor knows thresholds.
 *
 * @see FR-9.2
 */
import {
  ACTION_STATUSES,
  type ActionStatus,
  type EntropyTuple,
  type SessionKey,
  type Severity,
} from '#contracts';
import { unitAt } from '#kernel';
import {
  HEAD_NUMBERS,
  HEAD_TEXTS,
  numbersOf,
  type RowText,
  rowOf,
  TUPLE_NUMBERS,
  TUPLE_TEXTS,
  textsOf,
  type WindowRows,
  type WindowSlot,
} from './window-rows.js';

/** Places of a window's numbers. The oldest tuple's index is 0 until the ring is full. */
const SIZE = 0;
const OLDEST = 1;
const UNIQUE = 2;
const CHARS = 3;
const STATE = 4;
const USED_PERIOD = 5;
/** Of a tuple's numbers, after those. */
const TUPLE_DIGEST = 0;
const TUPLE_CHARS = 1;
/** Of a window's texts, and of a tuple's after those. */
const KEY = 0;
const AGENT = 1;
const FLAGGED = 2;
const INTENT = 0;
const TOOL = 1;

/** What `STATE` holds: the severity's place in this list, and two bits. */
const SEVERITIES: readonly Severity[] = ['normal', 'warning', 'loop'];
const SEVERITY_BITS = 3;
const RESTORED_BIT = 4;
/** An agent is known, which is asked at every step: the texts need not be touched for it. */
const BOUND_BIT = 8;

/** Agents whose nodes one session keeps coloured; a swarm has a few dozen. */
export const FLAGGED_AGENTS_MAX = 100;

export class EntropyWindow {
  readonly #rows: WindowRows;
  #numbers: Int32Array = new Int32Array();
  #texts: RowText[] = [];
  #capacity = 0;
  /** Where the row begins, among numbers and among texts. */
  #number = 0;
  #text = 0;

  constructor(rows: WindowRows) {
    this.#rows = rows;
  }

  /** From now on the view shows this row, which is open. Returns the view. */
  at(slot: WindowSlot): this {
    const { numbers, texts, capacity } = this.#rows.pageOf(slot);
    const row = rowOf(slot);
    this.#numbers = numbers;
    this.#texts = texts;
    this.#capacity = capacity;
    this.#number = row * numbersOf(capacity);
    this.#text = row * textsOf(capacity);
    return this;
  }

  get key(): SessionKey {
    return this.#texts[this.#text + KEY] as SessionKey;
  }

  set key(key: SessionKey) {
    this.#texts[this.#text + KEY] = key;
  }

  /** Agent of the latest step; "" while unknown. */
  get agentId(): string {
    return this.#texts[this.#text + AGENT] as string;
  }

  set agentId(agentId: string) {
    this.#texts[this.#text + AGENT] = agentId;
    const rest = this.#read(STATE) & ~BOUND_BIT;
    this.#write(STATE, agentId === '' ? rest : rest | BOUND_BIT);
  }

  get isBound(): boolean {
    return (this.#read(STATE) & BOUND_BIT) !== 0;
  }

  /** Of the latest score. */
  get severity(): Severity {
    return SEVERITIES[this.#read(STATE) & SEVERITY_BITS] as Severity;
  }

  set severity(severity: Severity) {
    const rest = this.#read(STATE) & ~SEVERITY_BITS;
    this.#write(STATE, rest | (severity === 'normal' ? 0 : severity === 'warning' ? 1 : 2));
  }

  /** Filled from the store, possibly with nothing: there is no history left to fetch. */
  get isRestored(): boolean {
    return (this.#read(STATE) & RESTORED_BIT) !== 0;
  }

  markRestored(): void {
    this.#write(STATE, this.#read(STATE) | RESTORED_BIT);
  }

  /** Period of the clock in which it last counted as used, in 32 bits, signed. */
  get usedPeriod(): number {
    return this.#read(USED_PERIOD);
  }

  set usedPeriod(period: number) {
    this.#write(USED_PERIOD, period);
  }

  /** Agents whose nodes were coloured since the session was last normal, at most `FLAGGED_AGENTS_MAX`; longest first. */
  get flaggedAgentIds(): readonly string[] {
    const flagged = this.#texts[this.#text + FLAGGED] as RowText;
    if (typeof flagged !== 'string') return flagged;
    return flagged === '' ? [] : [flagged];
  }

  /** Adds the agent of the latest step to the flagged ones. @returns the one that gave way to it, if any */
  flagAgent(): string | undefined {
    const { agentId } = this;
    const place = this.#text + FLAGGED;
    const flagged = this.#texts[place] as RowText;
    // One agent is the rule, and a list would be two misses more.
    if (flagged === '') this.#texts[place] = agentId;
    else if (typeof flagged === 'string') {
      if (flagged !== agentId) this.#texts[place] = [flagged, agentId];
    } else if (!flagged.includes(agentId)) {
      flagged.push(agentId);
      if (flagged.length > FLAGGED_AGENTS_MAX) return flagged.shift();
    }
    return undefined;
  }

  unflagAgents(): void {
    this.#texts[this.#text + FLAGGED] = '';
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Tuples in it, at most its capacity. */
  get size(): number {
    return this.#read(SIZE);
  }

  /** Distinct tuples among those in the window. */
  get uniqueCount(): number {
    return this.#read(UNIQUE);
  }

  /** Characters of the distinct tuples' texts, which is what the window keeps in memory besides its row. */
  get textChars(): number {
    return this.#read(CHARS);
  }

  /** Becomes what `old` is, with as many of its newest tuples as there is room for. This one is empty until now. */
  takeOver(old: EntropyWindow): void {
    for (let place = 0; place < HEAD_TEXTS; place += 1)
      this.#texts[this.#text + place] = old.#texts[old.#text + place] as RowText;
    for (const place of [STATE, USED_PERIOD]) this.#write(place, old.#read(place));
    for (const tuple of old.toArray().slice(-this.#capacity)) this.push(tuple);
  }

  /** Appends; the oldest leaves a full window. Two passes over the digests at most, nothing allocated. */
  push(tuple: EntropyTuple): void {
    const numbers = this.#numbers;
    const texts = this.#texts;
    const shared = this.#rows.sharedTexts;
    const toolDigest = mix(tuple.tool_call.length, tuple.tool_call);
    const intentDigest = mix(tuple.intent.length, tuple.intent);
    const tool_call = shared.share(tuple.tool_call, toolDigest);
    const intent = shared.share(tuple.intent, intentDigest);
    const digest = digestOf(intentDigest, toolDigest, tuple.action_status);
    const equal = this.#find(digest, intent, tool_call);

    const size = this.size;
    const isFull = size === this.#capacity;
    const index = isFull ? this.#read(OLDEST) : size;
    const number = this.#numberOf(index);
    const text = this.#textOf(index);
    const oldDigest = numbers[number + TUPLE_DIGEST] as number;
    const oldChars = numbers[number + TUPLE_CHARS] as number;
    const oldIntent = texts[text + INTENT] as string;
    const oldTool = texts[text + TOOL] as string;
    const chars = intent.length + tool_call.length;
    numbers[number + TUPLE_DIGEST] = digest;
    numbers[number + TUPLE_CHARS] = chars;
    if (equal < 0) {
      texts[text + INTENT] = intent;
      texts[text + TOOL] = tool_call;
      this.#write(UNIQUE, this.uniqueCount + 1);
      this.#write(CHARS, this.textChars + chars);
    } else {
      const held = this.#textOf(equal);
      texts[text + INTENT] = texts[held + INTENT] as string;
      texts[text + TOOL] = texts[held + TOOL] as string;
    }
    if (!isFull) {
      this.#write(SIZE, size + 1);
      return;
    }
    this.#write(OLDEST, index + 1 === size ? 0 : index + 1);
    // Asked with the new tuple in place, so that one that replaces its equal takes nothing away.
    if (this.#find(oldDigest, oldIntent, oldTool) >= 0) return;
    this.#write(UNIQUE, this.uniqueCount - 1);
    this.#write(CHARS, this.textChars - oldChars);
  }

  /** Oldest first. */
  toArray(): EntropyTuple[] {
    const { size } = this;
    const tuples = new Array<EntropyTuple>(size);
    for (let age = 0; age < size; age += 1) tuples[age] = this.#tupleAt(this.#indexOf(age));
    return tuples;
  }

  /** Index of a tuple with these parts, -1 if there is none. */
  #find(digest: number, intent: string, tool: string): number {
    const numbers = this.#numbers;
    const size = this.size;
    let number = this.#number + HEAD_NUMBERS + TUPLE_DIGEST;
    for (let index = 0; index < size; index += 1, number += TUPLE_NUMBERS) {
      if (numbers[number] !== digest) continue;
      const text = this.#textOf(index);
      // The tool first, which is mostly the very same text.
      if (this.#texts[text + TOOL] === tool && this.#texts[text + INTENT] === intent) return index;
    }
    return -1;
  }

  /** @param age 0 is the oldest tuple */
  #indexOf(age: number): number {
    return (this.#read(OLDEST) + age) % this.#capacity;
  }

  #tupleAt(index: number): EntropyTuple {
    const text = this.#textOf(index);
    return {
      intent: this.#texts[text + INTENT] as string,
      tool_call: this.#texts[text + TOOL] as string,
      action_status: statusOf(this.#numbers[this.#numberOf(index) + TUPLE_DIGEST] as number),
    };
  }

  #read(place: number): number {
    return this.#numbers[this.#number + place] as number;
  }

  #write(place: number, value: number): void {
    this.#numbers[this.#number + place] = value;
  }

  #numberOf(index: number): number {
    return this.#number + HEAD_NUMBERS + index * TUPLE_NUMBERS;
  }

  #textOf(index: number): number {
    return this.#text + HEAD_TEXTS + index * TUPLE_TEXTS;
  }
}

/**
 * Characters of a text that go into its digest, spread over it: most texts whole. With a dozen, texts that differ in one
 * number met so often that comparing them took a third of the time.
 */
const DIGEST_CHARS_MAX = 64;

/** Where a digest holds the status: its place in this list. */
const STATUSES: readonly string[] = ['', ...ACTION_STATUSES];
const STATUS_BITS = 7;

const statusOf = (digest: number) => STATUSES[digest & STATUS_BITS] as ActionStatus;

/** 32 bits, signed. Equal tuples have equal digests; unequal ones usually not, and never where the status differs. */
const digestOf = (intentDigest: number, toolDigest: number, status: ActionStatus): number =>
  ((Math.imul(intentDigest, 31) + toolDigest) & ~STATUS_BITS) | placeOf(status);

function placeOf(status: ActionStatus): number {
  for (let place = STATUSES.length - 1; place > 0; place -= 1) if (STATUSES[place] === status) return place;
  return 0;
}

/** FNV-1a over some of the text's characters, its last among them. */
function mix(start: number, text: string): number {
  let digest = start;
  const step = Math.ceil(text.length / DIGEST_CHARS_MAX);
  for (let at = text.length - 1; at >= 0; at -= step)
    digest = Math.imul(digest ^ unitAt(text, at), 0x01000193);
  return digest;
}
