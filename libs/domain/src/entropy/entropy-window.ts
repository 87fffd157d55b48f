/**
 * One session's sliding window: the last N tuples in order of arrival, seen through a view that is pointed at one row
 * after another. A ring, flat in its row: digests side by side, then of each tuple its length and the numbers of its texts.
 *
 * Tuples are told apart by their digests, which hold the status; texts are asked for only where two digests agree, and
 * then decide. Of equal tuples only the latest keeps its digest as it is: so it alone is found, it alone counts as
 * distinct, and the number of distinct ones follows from every push instead of being recounted. Neither scores nor knows
 * thresholds.
 *
 * @see FR-9.2
 */
import { type EntropyTuple, type SessionKey, type Severity } from '#contracts';
import { EMPTY_TEXT, type TextId, type TextPool } from './text-pool.js';
import { asRepeated, isRepeated, sampleDigest, statusOf, tupleDigest } from './tuple-digest.js';
import {
  HEAD_NUMBERS,
  numbersOf,
  ROW_TEXTS,
  type RowText,
  rowOf,
  TUPLE_NUMBERS,
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
const AGENT = 6;
/** Of a tuple's numbers, those after its digest. */
const REST_NUMBERS = TUPLE_NUMBERS - 1;
const TUPLE_CHARS = 0;
const INTENT = 1;
const TOOL = 2;
/** Of a window's texts. */
const KEY = 0;
const FLAGGED = 1;

/** What `STATE` holds: the severity's place in this list, and a bit. */
const SEVERITIES: readonly Severity[] = ['normal', 'warning', 'loop'];
const SEVERITY_BITS = 3;
const RESTORED_BIT = 4;

/** Agents whose nodes one session keeps coloured; a swarm has a few dozen. */
export const FLAGGED_AGENTS_MAX = 100;

export class EntropyWindow {
  readonly #rows: WindowRows;
  readonly #pool: TextPool;
  #numbers: Int32Array = new Int32Array();
  #texts: RowText[] = [];
  #capacity = 0;
  /** Where the row begins, among numbers and among texts. */
  #number = 0;
  #text = 0;

  constructor(rows: WindowRows, pool: TextPool) {
    this.#rows = rows;
    this.#pool = pool;
  }

  /** From now on the view shows this row, which is open. Returns the view. */
  at(slot: WindowSlot): this {
    const { numbers, texts, capacity } = this.#rows.pageOf(slot);
    const row = rowOf(slot);
    this.#numbers = numbers;
    this.#texts = texts;
    this.#capacity = capacity;
    // Whole numbers, which V8 would not know of a product.
    this.#number = (row * numbersOf(capacity)) | 0;
    this.#text = row * ROW_TEXTS;
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
    return this.#pool.of(this.#read(AGENT) as TextId);
  }

  set agentId(agentId: string) {
    const known = this.#read(AGENT) as TextId;
    if (this.#pool.of(known) === agentId) return;
    this.#write(AGENT, this.#pool.hold(agentId, sampleDigest(agentId)));
    this.#pool.release(known);
  }

  get isBound(): boolean {
    return this.#read(AGENT) !== EMPTY_TEXT;
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
    for (const place of [KEY, FLAGGED])
      this.#texts[this.#text + place] = old.#texts[old.#text + place] as RowText;
    for (const place of [STATE, USED_PERIOD]) this.#write(place, old.#read(place));
    this.agentId = old.agentId;
    for (const tuple of old.toArray().slice(-this.#capacity)) this.push(tuple);
  }

  /** Lets go of its texts, before its row is closed. */
  releaseTexts(): void {
    this.#pool.release(this.#read(AGENT) as TextId);
    for (let index = 0; index < this.size; index += 1) {
      const rest = this.#restOf(index);
      this.#pool.release(this.#numbers[rest + INTENT] as TextId);
      this.#pool.release(this.#numbers[rest + TOOL] as TextId);
    }
  }

  /** Appends; the oldest leaves a full window. One pass over the digests, nothing allocated. */
  push(tuple: EntropyTuple): void {
    const numbers = this.#numbers;
    const pool = this.#pool;
    const toolDigest = sampleDigest(tuple.tool_call);
    const intentDigest = sampleDigest(tuple.intent);
    let tool = pool.hold(tuple.tool_call, toolDigest);
    let intent = pool.hold(tuple.intent, intentDigest);
    const digest = tupleDigest(intentDigest, toolDigest, tuple.action_status);
    const equal = this.#findLatest(digest, intent, tool);
    if (equal >= 0) {
      // The same number for each of them, where the pool had lost it out of sight.
      const held = this.#restOf(equal);
      tool = this.#instead(tool, numbers[held + TOOL] as TextId);
      intent = this.#instead(intent, numbers[held + INTENT] as TextId);
      numbers[this.#digestAt(equal)] = asRepeated(digest);
    }

    const size = this.size;
    const isFull = size === this.#capacity;
    const index = isFull ? this.#read(OLDEST) : size;
    const rest = this.#restOf(index);
    const chars = tuple.intent.length + tuple.tool_call.length;
    if (isFull) {
      this.#write(OLDEST, index + 1 === size ? 0 : index + 1);
      if (!isRepeated(numbers[this.#digestAt(index)] as number))
        this.#count(-1, numbers[rest + TUPLE_CHARS] as number);
      pool.release(numbers[rest + INTENT] as TextId);
      pool.release(numbers[rest + TOOL] as TextId);
    } else this.#write(SIZE, size + 1);
    if (equal < 0) this.#count(1, chars);
    numbers[this.#digestAt(index)] = digest;
    numbers[rest + TUPLE_CHARS] = chars;
    numbers[rest + INTENT] = intent;
    numbers[rest + TOOL] = tool;
  }

  /** Oldest first. */
  toArray(): EntropyTuple[] {
    const { size } = this;
    const tuples = new Array<EntropyTuple>(size);
    for (let age = 0; age < size; age += 1) tuples[age] = this.#tupleAt(this.#indexOf(age));
    return tuples;
  }

  /** Index of the latest tuple with these parts, -1 if there is none. */
  #findLatest(digest: number, intent: TextId, tool: TextId): number {
    const numbers = this.#numbers;
    const first = this.#digestAt(0);
    for (let index = 0; index < this.size; index += 1) {
      if (numbers[first + index] !== digest) continue;
      const rest = this.#restOf(index);
      // The tool first, which is mostly the same.
      if (
        this.#isSame(numbers[rest + TOOL] as TextId, tool) &&
        this.#isSame(numbers[rest + INTENT] as TextId, intent)
      )
        return index;
    }
    return -1;
  }

  #isSame(one: TextId, other: TextId): boolean {
    return one === other || this.#pool.of(one) === this.#pool.of(other);
  }

  /** Holds `better`, which names the same text, in place of `id`. */
  #instead(id: TextId, better: TextId): TextId {
    if (id === better) return id;
    this.#pool.release(id);
    return this.#pool.holdAgain(better);
  }

  /** One distinct tuple more or less. */
  #count(sign: 1 | -1, chars: number): void {
    this.#write(UNIQUE, this.uniqueCount + sign);
    this.#write(CHARS, this.textChars + sign * chars);
  }

  /** @param age 0 is the oldest tuple */
  #indexOf(age: number): number {
    return (this.#read(OLDEST) + age) % this.#capacity;
  }

  #tupleAt(index: number): EntropyTuple {
    const rest = this.#restOf(index);
    return {
      intent: this.#pool.of(this.#numbers[rest + INTENT] as TextId),
      tool_call: this.#pool.of(this.#numbers[rest + TOOL] as TextId),
      action_status: statusOf(this.#numbers[this.#digestAt(index)] as number),
    };
  }

  #read(place: number): number {
    return this.#numbers[this.#number + place] as number;
  }

  #write(place: number, value: number): void {
    this.#numbers[this.#number + place] = value;
  }

  /** Where a tuple's digest lies. */
  #digestAt(index: number): number {
    return this.#number + HEAD_NUMBERS + index;
  }

  /** Where the rest of its numbers begins. */
  #restOf(index: number): number {
    return this.#number + HEAD_NUMBERS + this.#capacity + index * REST_NUMBERS;
  }
}
