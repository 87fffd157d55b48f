/**
 * The history of a sidecar that stands alone: exact cosine over the last few prompts of each scope, decided in the
 * calling turn, so two requests cannot race between recording and pruning. Bounded by scopes, by bytes and in time;
 * what the first two push out is counted.
 */
import {
  type Cosine,
  type PromptEntry,
  type PromptHistory,
  PromptHistoryFailure,
  type PromptMatch,
  type PromptScope,
} from '#contracts/embedding';
import { FairLru, type SteadyClock } from '#kernel';
import { checkUnitVector } from './check-unit-vector.js';
import { HISTORY_COUNT_MAX, HISTORY_TTL_MS } from './history-defaults.js';
import { cutPrompt } from './prompt-chars.js';

const HISTORY_SCOPE_COUNT_MAX = 50_000;
/** Of vectors, texts and ids; 384 dimensions and short prompts come to about 9 kB for a full scope. */
const HISTORY_BYTES_MAX = 256 * 1024 * 1024;
/** What an entry or a scope costs besides its content, roughly. */
const OVERHEAD_BYTES = 200;

export interface MemoryPromptHistoryOptions {
  clock: SteadyClock;
  /** Of the vectors. */
  dimension: number;
  /** Prompts kept for each scope. */
  countMax?: number;
  ttlMs?: number;
  /** Scopes held at once; the least recently used of the tenant that has most leaves first. */
  scopeCountMax?: number;
  /** Past it scopes leave in the same way. */
  bytesMax?: number;
}

/** For metrics; all but the first two only ever grow. */
export interface PromptHistoryCounts {
  scopes: number;
  bytes: number;
  /** Scopes that a bound pushed out while they still held prompts. */
  evicted_capacity: number;
  evicted_memory: number;
  /** Prompts longer than is kept. */
  cut_prompts: number;
}

interface Kept {
  requestId: string;
  prompt: string;
  vector: Float32Array;
  atMs: number;
  /** By the steady clock. */
  recordedMs: number;
  bytes: number;
}

interface Scope {
  /** In order of arrival. */
  entries: Kept[];
  bytes: number;
}

export class MemoryPromptHistory implements PromptHistory {
  readonly kind = 'memory';
  readonly #clock: SteadyClock;
  readonly #dimension: number;
  readonly #countMax: number;
  readonly #ttlMs: number;
  /** By session. */
  readonly #scopes: FairLru<string, Scope>;
  #isClosed = false;
  #cutCount = 0;

  constructor(options: MemoryPromptHistoryOptions) {
    this.#clock = options.clock;
    this.#dimension = options.dimension;
    this.#countMax = options.countMax ?? HISTORY_COUNT_MAX;
    this.#ttlMs = options.ttlMs ?? HISTORY_TTL_MS;
    this.#scopes = new FairLru({
      countMax: options.scopeCountMax ?? HISTORY_SCOPE_COUNT_MAX,
      // An idle scope has nothing left that is young enough.
      idleMs: this.#ttlMs,
      clock: options.clock,
      weight: { max: options.bytesMax ?? HISTORY_BYTES_MAX, of: (scope) => scope.bytes },
    });
  }

  async open(): Promise<void> {
    this.#checkOpen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#scopes.clear();
  }

  async probe(): Promise<void> {
    this.#checkOpen();
  }

  async similar(scope: PromptScope, vector: Float32Array, requestId: string): Promise<PromptMatch[]> {
    this.#checkOpen();
    checkUnitVector(vector, this.#dimension);
    const known = this.#scopes.get(scope.tenant_id, scope.session_id);
    if (known === undefined) return [];
    this.#expire(scope, known);
    return known.entries
      .filter((kept) => kept.requestId !== requestId)
      .map((kept) => ({
        request_id: kept.requestId,
        prompt: kept.prompt,
        at_ms: kept.atMs,
        cosine: cosine(kept.vector, vector),
      }))
      .sort((one, other) => other.cosine - one.cosine || other.at_ms - one.at_ms);
  }

  async record(scope: PromptScope, entry: PromptEntry): Promise<void> {
    this.#checkOpen();
    checkUnitVector(entry.vector, this.#dimension);
    const { tenant_id, session_id } = scope;
    let known = this.#scopes.get(tenant_id, session_id);
    if (known === undefined) {
      known = { entries: [], bytes: OVERHEAD_BYTES + 2 * session_id.length };
      this.#scopes.set(tenant_id, session_id, known);
    }
    const kept = this.#keep(entry);
    const others = known.entries.filter((one) => one.requestId !== kept.requestId && !this.#isOver(one));
    this.#setEntries(scope, known, [...others, kept].slice(-this.#countMax));
  }

  counts(): PromptHistoryCounts {
    this.#scopes.evictIdle();
    return {
      scopes: this.#scopes.size,
      bytes: this.#scopes.weight,
      evicted_capacity: this.#scopes.evicted.capacity,
      evicted_memory: this.#scopes.evicted.memory,
      cut_prompts: this.#cutCount,
    };
  }

  #keep(entry: PromptEntry): Kept {
    const prompt = cutPrompt(entry.prompt);
    if (prompt.length < entry.prompt.length) this.#cutCount += 1;
    return {
      requestId: entry.request_id,
      prompt,
      // A copy: it may be shared, or a piece of a far larger buffer.
      vector: entry.vector.slice(),
      atMs: entry.at_ms,
      recordedMs: this.#clock.steadyMs(),
      bytes: OVERHEAD_BYTES + entry.vector.byteLength + 2 * (prompt.length + entry.request_id.length),
    };
  }

  #isOver(kept: Kept): boolean {
    return this.#clock.steadyMs() - kept.recordedMs >= this.#ttlMs;
  }

  #expire(scope: PromptScope, known: Scope): void {
    this.#setEntries(
      scope,
      known,
      known.entries.filter((kept) => !this.#isOver(kept)),
    );
    if (known.entries.length === 0) this.#scopes.delete(scope.tenant_id, scope.session_id);
  }

  /** Keeps the sums of bytes; the scope in use stays: alone it is bounded by its count and by `PROMPT_CHARS_MAX`. */
  #setEntries({ tenant_id, session_id }: PromptScope, known: Scope, entries: Kept[]): void {
    const change = bytesOf(entries) - bytesOf(known.entries);
    known.entries = entries;
    known.bytes += change;
    this.#scopes.reweigh(tenant_id, session_id, known, change);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new PromptHistoryFailure('unavailable', 'The prompt history is closed');
  }
}

const bytesOf = (entries: readonly Kept[]): number => entries.reduce((sum, { bytes }) => sum + bytes, 0);

function cosine(one: Float32Array, other: Float32Array): Cosine {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1)
    sum += (one[index] as number) * (other[index] as number);
  return Math.max(-1, Math.min(1, sum)) as Cosine;
}
