/**
 * Which steps were seen lately, so that a resent one counts once, and which session a step belongs to. Bounded: the
 * oldest leave. Behind it the store still finds any step it has, and keeps no second copy.
 *
 * A ring of rows, numbers beside texts, where a Map of objects took six of them a step to be collected and copied: of a
 * step nothing stays but its trace id. What is looked for lies in chains, from the latest step of a bucket back to where
 * the ring has come round, so that nothing is ever taken out of one.
 */
import { randomBytes } from 'node:crypto';
import { type SessionKey, splitSessionKey, tenantIdOf } from '#contracts';
import { type Deferred, deferred, RingChains, textDigest, unitAt } from '#kernel';

export type Recognition =
  | { kind: 'new' }
  /** Same trace id, other body: another step, worth a warning. */
  | { kind: 'reused_trace_id' }
  /** `key` of its session; `commit` settles when the step is durable, null once it is. */
  | { kind: 'duplicate'; key: SessionKey; commit: Promise<void> | null };

/** Steps that become durable together, or not at all: one outcome for all, made for the first that waits for it. */
export class OpenCommit {
  readonly #memory: StepMemory;
  readonly #steps: number[] = [];
  #outcome: Deferred | null = null;
  #end: { failure: unknown } | 'success' | null = null;

  constructor(memory: StepMemory) {
    this.#memory = memory;
  }

  get promise(): Promise<void> {
    if (this.#outcome === null) {
      this.#outcome = deferred();
      // Only a copy that waits for it cares; otherwise the failure is its request's own answer.
      this.#outcome.promise.catch(() => {});
      this.#tell();
    }
    return this.#outcome.promise;
  }

  /** For the memory alone. */
  add(step: number): void {
    this.#steps.push(step);
  }

  succeed(): void {
    for (const step of this.#steps) this.#memory.noteDurable(step);
    this.#end = 'success';
    this.#tell();
  }

  /** Its steps were never seen: their sender will send them again. */
  fail(reason: unknown): void {
    for (const step of this.#steps) this.#memory.forget(step);
    this.#end = { failure: reason };
    this.#tell();
  }

  #tell(): void {
    if (this.#end === 'success') this.#outcome?.resolve();
    else if (this.#end !== null) this.#outcome?.reject(this.#end.failure);
  }
}

/** Steps of a chain that are looked at: who makes hashes meet in one bucket is left to the store. */
const LOOKED_AT_MAX = 64;
const NEW: Recognition = { kind: 'new' };
const REUSED: Recognition = { kind: 'reused_trace_id' };

/** A step's number is its row's in both chains. */
export class StepMemory {
  /** Of this process's own. */
  readonly #seed = randomBytes(4).readInt32LE();
  readonly #byBody: RingChains;
  readonly #byTrace: RingChains;
  readonly #bodies: Int32Array;
  readonly #traceIds: string[] = [];
  /** Of their sessions; null for a step that was forgotten. */
  readonly #keys: (SessionKey | null)[] = [];
  readonly #commits: (OpenCommit | null)[] = [];

  constructor(stepsMax: number) {
    this.#byBody = new RingChains(stepsMax);
    this.#byTrace = new RingChains(stepsMax);
    this.#bodies = new Int32Array(stepsMax * BODY_NUMBERS);
  }

  /** @param bodyHash as `bodyHash` makes it: 120 of its bits are compared */
  recognise(tenantId: string, traceId: string, bodyHash: string): Recognition {
    // Its trace first: most steps are told new by it alone, and every chain is a cache miss to look at.
    if (this.#keyOfTrace(tenantId, traceId) === null) return NEW;
    readBody(bodyHash);
    let step = this.#byBody.latest(body[0] as number);
    for (let looked = 0; looked < LOOKED_AT_MAX && this.#byBody.isKept(step); looked += 1) {
      const place = this.#byBody.placeOf(step);
      if (this.#hasBody(place) && this.#isOf(place, tenantId, traceId)) {
        return {
          kind: 'duplicate',
          key: this.#keys[place] as SessionKey,
          commit: this.#commits[place]?.promise ?? null,
        };
      }
      step = this.#byBody.before(step);
    }
    return REUSED;
  }

  /** The session of the latest step with this trace id. */
  sessionOf(tenantId: string, traceId: string): string | undefined {
    const key = this.#keyOfTrace(tenantId, traceId);
    return key === null ? undefined : splitSessionKey(key).sessionId;
  }

  /**
   * @param key of its session: kept, and best the text that others keep anyway
   * @param commit null for a step that is durable already
   */
  remember(key: SessionKey, traceId: string, bodyHash: string, commit: OpenCommit | null): void {
    readBody(bodyHash);
    const step = this.#byBody.add(body[0] as number);
    this.#byTrace.add(textDigest(traceId, this.#seed));
    const place = this.#byBody.placeOf(step);
    // One by one: `set` is a call out of compiled code, for four numbers.
    for (let index = 0; index < BODY_NUMBERS; index += 1)
      this.#bodies[place * BODY_NUMBERS + index] = body[index] as number;
    this.#traceIds[place] = traceId;
    this.#keys[place] = key;
    this.#commits[place] = commit;
    commit?.add(step);
  }

  /** Nobody need wait for it any more. */
  noteDurable(step: number): void {
    if (this.#byBody.isKept(step)) this.#commits[this.#byBody.placeOf(step)] = null;
  }

  forget(step: number): void {
    if (this.#byBody.isKept(step)) this.#keys[this.#byBody.placeOf(step)] = null;
  }

  #keyOfTrace(tenantId: string, traceId: string): SessionKey | null {
    const digest = textDigest(traceId, this.#seed);
    let step = this.#byTrace.latest(digest);
    for (let looked = 0; looked < LOOKED_AT_MAX && this.#byTrace.isKept(step); looked += 1) {
      const place = this.#byTrace.placeOf(step);
      // The digest first: the trace ids are cache misses to look at.
      if (this.#byTrace.digestOf(step) === digest && this.#isOf(place, tenantId, traceId))
        return this.#keys[place] as SessionKey;
      step = this.#byTrace.before(step);
    }
    return null;
  }

  #isOf(place: number, tenantId: string, traceId: string): boolean {
    if (this.#traceIds[place] !== traceId) return false;
    const key = this.#keys[place] as SessionKey | null;
    return key !== null && tenantIdOf(key) === tenantId;
  }

  /** Whether it has the body that was read last. */
  #hasBody(place: number): boolean {
    const at = place * BODY_NUMBERS;
    for (let index = 0; index < BODY_NUMBERS; index += 1)
      if (this.#bodies[at + index] !== body[index]) return false;
    return true;
  }
}

/** Of a body's hash, 30 bits each: five characters of base64url. */
const BODY_NUMBERS = 4;
const CHARS_PER_NUMBER = 5;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const bitsOfChar = new Uint8Array(128);
for (const [bits, char] of [...BASE64URL].entries()) bitsOfChar[char.charCodeAt(0)] = bits;
/** Read last, from this hash: a step that is new is remembered next. */
const body = new Int32Array(BODY_NUMBERS);
let bodyReadOf = '';

function readBody(hash: string): void {
  if (hash === bodyReadOf) return;
  bodyReadOf = hash;
  for (let index = 0, at = 0; index < BODY_NUMBERS; index += 1) {
    let bits = 0;
    for (let char = 0; char < CHARS_PER_NUMBER; char += 1, at += 1)
      bits = (bits << 6) | (bitsOfChar[unitAt(hash, at) & 127] as number);
    body[index] = bits;
  }
}
