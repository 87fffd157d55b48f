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
import { type Deferred, deferred } from '#kernel';

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

/** Steps are numbered from 1 on, and lie at their number modulo the size of the ring. */
export class StepMemory {
  readonly #stepsMax: number;
  readonly #seed = randomBytes(4).readInt32LE();
  readonly #byBody: Chains;
  readonly #byTrace: Chains;
  readonly #bodies: Int32Array;
  /** Of the trace ids, which are cache misses to look at. */
  readonly #digests: Int32Array;
  readonly #traceIds: string[] = [];
  /** Of their sessions; null for a step that was forgotten. */
  readonly #keys: (SessionKey | null)[] = [];
  readonly #commits: (OpenCommit | null)[] = [];
  #latest = 0;

  constructor(stepsMax: number) {
    this.#stepsMax = stepsMax;
    this.#byBody = new Chains(stepsMax);
    this.#byTrace = new Chains(stepsMax);
    this.#bodies = new Int32Array(stepsMax * BODY_NUMBERS);
    this.#digests = new Int32Array(stepsMax);
  }

  /** @param bodyHash as `bodyHash` makes it: 120 of its bits are compared */
  recognise(tenantId: string, traceId: string, bodyHash: string): Recognition {
    readBody(bodyHash);
    let step = this.#byBody.latest(body[0] as number);
    for (let looked = 0; looked < LOOKED_AT_MAX && this.#isKept(step); looked += 1) {
      const place = step % this.#stepsMax;
      if (this.#hasBody(place) && this.#isOf(place, tenantId, traceId)) {
        return {
          kind: 'duplicate',
          key: this.#keys[place] as SessionKey,
          commit: this.#commits[place]?.promise ?? null,
        };
      }
      step = this.#byBody.before(place);
    }
    return this.#keyOfTrace(tenantId, traceId) === null ? NEW : REUSED;
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
    this.#latest += 1;
    const step = this.#latest;
    const place = step % this.#stepsMax;
    readBody(bodyHash);
    this.#bodies.set(body, place * BODY_NUMBERS);
    const digest = this.#digestOf(traceId);
    this.#digests[place] = digest;
    this.#traceIds[place] = traceId;
    this.#keys[place] = key;
    this.#commits[place] = commit;
    this.#byBody.add(body[0] as number, step, place);
    this.#byTrace.add(digest, step, place);
    commit?.add(step);
  }

  /** Nobody need wait for it any more. */
  noteDurable(step: number): void {
    if (this.#isKept(step)) this.#commits[step % this.#stepsMax] = null;
  }

  forget(step: number): void {
    if (this.#isKept(step)) this.#keys[step % this.#stepsMax] = null;
  }

  #isKept(step: number): boolean {
    return step > 0 && step > this.#latest - this.#stepsMax;
  }

  #keyOfTrace(tenantId: string, traceId: string): SessionKey | null {
    const digest = this.#digestOf(traceId);
    let step = this.#byTrace.latest(digest);
    for (let looked = 0; looked < LOOKED_AT_MAX && this.#isKept(step); looked += 1) {
      const place = step % this.#stepsMax;
      if (this.#digests[place] === digest && this.#isOf(place, tenantId, traceId))
        return this.#keys[place] as SessionKey;
      step = this.#byTrace.before(place);
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

  /** FNV-1a from a start of this process's own. */
  #digestOf(text: string): number {
    let digest = this.#seed;
    for (let at = 0; at < text.length; at += 1) digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193);
    return digest ^ (digest >>> 15);
  }
}

/** For each bucket its latest step; for each place of the ring the step that was the latest of its bucket before. */
class Chains {
  readonly #latest: Float64Array;
  readonly #before: Float64Array;
  readonly #mask: number;

  constructor(stepsMax: number) {
    const buckets = 2 ** Math.ceil(Math.log2(stepsMax));
    this.#mask = buckets - 1;
    this.#latest = new Float64Array(buckets);
    this.#before = new Float64Array(stepsMax);
  }

  /** 0: none; or one whose place is another's by now. */
  latest(digest: number): number {
    return this.#latest[digest & this.#mask] as number;
  }

  before(place: number): number {
    return this.#before[place] as number;
  }

  add(digest: number, step: number, place: number): void {
    this.#before[place] = this.latest(digest);
    this.#latest[digest & this.#mask] = step;
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
      bits = (bits << 6) | (bitsOfChar[hash.charCodeAt(at) & 127] as number);
    body[index] = bits;
  }
}
