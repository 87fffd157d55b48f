/**
 * The history that several sidecars share. Recording is one script and searching one query, each a round trip; both
 * reject fast while Redis is away or hangs, and work again when it is back. A missing index (after FLUSHALL, a restart
 * without persistence, a failover to an empty server) is created by the search that misses it.
 *
 * The index is HNSW, as the seed asks, but a search names its scope, which holds a handful of prompts at most: with
 * `HYBRID_POLICY ADHOC_BF` the engine compares exactly those, so the answer is exact whatever else is in the graph.
 * (EF_RUNTIME has no meaning there, and the engine refuses it.)
 *
 * @see seed 000, "Vector Storage"
 */
import type { Redis } from 'ioredis';
import {
  type EmbedderDescription,
  type PromptEntry,
  type PromptHistory,
  PromptHistoryFailure,
  type PromptMatch,
  type PromptScope,
} from '#contracts/embedding';
import { checkUnitVector, cutPrompt, HISTORY_COUNT_MAX, HISTORY_TTL_MS } from '#domain/semantic-loop';
import { inTime, type SteadyClock, steadyClock } from '#kernel';
import type { RedisConnection } from '../connect-redis.js';
import { ReplicaExit } from '../replica-exit.js';
import { type PromptNames, promptNames, requestDigest, scopeKeys } from './prompt-keys.js';
import { RECORD } from './record-script.js';
import { historyDisconnected, historyTimeout, readSearchError } from './search-failure.js';
import { FIELDS, readSearchReply } from './search-reply.js';

const KEY_PREFIX = 'observatory:prompts:';
/** Most a prompt waits for its history; the gateway waits 50 ms for all of it. */
const REPLY_TIMEOUT_MS = 40;
/** For making the index, and for the probe. */
const SETUP_TIMEOUT_MS = 1_000;
/** Replies awaited at once; beyond it calls are rejected unsent, so that a hanging Redis costs bounded memory. */
const PENDING_COUNT_MAX = 1_000;
/** Asked for this many times what is kept: an order that was lost leaves entries behind until they expire. */
const CANDIDATE_FACTOR = 2;

export interface RedisPromptHistoryOptions {
  /** The history opens and closes it. */
  connection: RedisConnection<Redis>;
  /** Whose vectors these are. */
  model: Pick<EmbedderDescription, 'model_id' | 'dimension'>;
  /** Prompts kept for each scope. */
  countMax?: number;
  ttlMs?: number;
  /** Before every name; ends with a separator and holds no braces. */
  keyPrefix?: string;
  replyTimeoutMs?: number;
  pendingCountMax?: number;
  /** Of the pause between two reconnects; expiry has the clock of Redis. */
  clock?: SteadyClock;
}

/** For metrics; all but the first only ever grow. */
export interface RedisHistoryCounts {
  pending: number;
  /** Created by a search that missed it, or when opened. */
  indexes_created: number;
  timeouts: number;
  /** Rejected unsent because too many replies were awaited. */
  refused_pending: number;
  /** Prompts longer than is kept. */
  cut_prompts: number;
}

type Argument = string | number | Buffer;

interface PromptCommands {
  observatoryPromptRecord(keyCount: number, ...keysAndArguments: Argument[]): Promise<unknown>;
}

export class RedisPromptHistory implements PromptHistory {
  readonly kind = 'redis';
  readonly #connection: RedisConnection<Redis>;
  readonly #names: PromptNames;
  readonly #dimension: number;
  readonly #countMax: number;
  readonly #ttlMs: number;
  readonly #replyTimeoutMs: number;
  readonly #pendingCountMax: number;
  readonly #replicaExit: ReplicaExit;
  #pendingCount = 0;
  #isClosed = false;
  /** One at a time, for all searches that miss the index together. */
  #creating: Promise<void> | null = null;
  readonly #counts = { indexes_created: 0, timeouts: 0, refused_pending: 0, cut_prompts: 0 };

  constructor(options: RedisPromptHistoryOptions) {
    const { connection, model, keyPrefix = KEY_PREFIX } = options;
    if (/[{}]/.test(keyPrefix))
      throw new RangeError('keyPrefix must not hold braces: they mark the hash tag');
    this.#connection = connection;
    this.#names = promptNames(keyPrefix, model.model_id, model.dimension);
    this.#dimension = model.dimension;
    this.#countMax = options.countMax ?? HISTORY_COUNT_MAX;
    this.#ttlMs = options.ttlMs ?? HISTORY_TTL_MS;
    this.#replyTimeoutMs = options.replyTimeoutMs ?? REPLY_TIMEOUT_MS;
    this.#pendingCountMax = options.pendingCountMax ?? PENDING_COUNT_MAX;
    this.#replicaExit = new ReplicaExit(connection.client, options.clock ?? steadyClock);
    connection.client.defineCommand('observatoryPromptRecord', { lua: RECORD });
  }

  /** Rejects as `unavailable` when Redis is away; connecting goes on, and later calls find it. */
  async open(): Promise<void> {
    this.#checkOpen();
    if (!(await this.#connection.open())) throw historyDisconnected();
    await this.#createIndex();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#connection.quit();
  }

  async probe(): Promise<void> {
    this.#checkOpen();
    const nobody = scopeKeys(this.#names, { tenant_id: '', session_id: '' });
    await this.#search(
      [`@tenant:{${nobody.tenantTag}}`, 'NOCONTENT', 'LIMIT', 0, 0, 'DIALECT', 2],
      SETUP_TIMEOUT_MS,
    );
  }

  async similar(scope: PromptScope, vector: Float32Array, requestId: string): Promise<PromptMatch[]> {
    this.#checkOpen();
    checkUnitVector(vector, this.#dimension);
    const { tenantTag, sessionTag } = scopeKeys(this.#names, scope);
    const count = this.#countMax * CANDIDATE_FACTOR;
    const filter = `(@tenant:{${tenantTag}} @session:{${sessionTag}})`;
    const matches = await this.#search(
      [
        `${filter}=>[KNN ${count} @vec $vector HYBRID_POLICY ADHOC_BF AS ${FIELDS.distance}]`,
        ...['PARAMS', 2, 'vector', bytesOf(vector)],
        ...['RETURN', RETURNED.length, ...RETURNED],
        // Without it the engine gives ten, whatever K is.
        ...['LIMIT', 0, count],
        ...['DIALECT', 2],
      ],
      this.#replyTimeoutMs,
    );
    const own = asStored(requestId);
    return matches
      .sort((one, other) => other.at_ms - one.at_ms)
      .slice(0, this.#countMax)
      .filter(({ request_id }) => request_id !== own)
      .sort((one, other) => other.cosine - one.cosine || other.at_ms - one.at_ms);
  }

  async record(scope: PromptScope, entry: PromptEntry): Promise<void> {
    this.#checkOpen();
    checkUnitVector(entry.vector, this.#dimension);
    const { tenantTag, sessionTag, order, entryPrefix } = scopeKeys(this.#names, scope);
    const member = requestDigest(entry.request_id);
    const prompt = cutPrompt(entry.prompt);
    if (prompt.length < entry.prompt.length) this.#counts.cut_prompts += 1;
    const commands = this.#connection.client as unknown as PromptCommands;
    try {
      await this.#send(
        () =>
          commands.observatoryPromptRecord(
            2,
            ...[order, `${entryPrefix}${member}`],
            ...[member, this.#countMax, this.#ttlMs, entryPrefix],
            ...['tenant', tenantTag, 'session', sessionTag, 'vec', bytesOf(entry.vector)],
            ...[FIELDS.requestId, entry.request_id, FIELDS.prompt, prompt, FIELDS.atMs, entry.at_ms],
          ),
        this.#replyTimeoutMs,
      );
    } catch (error) {
      throw readSearchError(error).failure;
    }
  }

  counts(): RedisHistoryCounts {
    return { pending: this.#pendingCount, ...this.#counts };
  }

  /** @throws PromptHistoryFailure */
  async #search(query: Argument[], timeoutMs: number): Promise<PromptMatch[]> {
    const search = (): Promise<unknown> =>
      this.#send(() => this.#connection.client.call('FT.SEARCH', this.#names.index, ...query), timeoutMs);
    try {
      return readSearchReply(await search());
    } catch (error) {
      const { kind, failure } = readSearchError(error);
      if (kind !== 'no_index') throw failure;
    }
    await this.#createIndex();
    try {
      return readSearchReply(await search());
    } catch (error) {
      throw readSearchError(error).failure;
    }
  }

  /** Also fine when another sidecar has just done it. @throws PromptHistoryFailure */
  #createIndex(): Promise<void> {
    this.#creating ??= this.#createIndexNow().finally(() => {
      this.#creating = null;
    });
    return this.#creating;
  }

  async #createIndexNow(): Promise<void> {
    const { index, entryPrefix } = this.#names;
    try {
      await this.#send(
        () =>
          this.#connection.client.call(
            'FT.CREATE',
            ...[index, 'ON', 'HASH', 'PREFIX', 1, entryPrefix],
            ...['SCHEMA', 'tenant', 'TAG', 'session', 'TAG'],
            ...['vec', 'VECTOR', 'HNSW', 6, 'TYPE', 'FLOAT32', 'DIM', this.#dimension],
            ...['DISTANCE_METRIC', 'COSINE'],
          ),
        SETUP_TIMEOUT_MS,
      );
      this.#counts.indexes_created += 1;
    } catch (error) {
      const { kind, failure } = readSearchError(error);
      if (kind !== 'index_exists') throw failure;
    }
  }

  async #send(command: () => Promise<unknown>, timeoutMs: number): Promise<unknown> {
    if (this.#pendingCount >= this.#pendingCountMax) {
      this.#counts.refused_pending += 1;
      throw new PromptHistoryFailure('unavailable', 'Too many replies of Redis are awaited');
    }
    this.#pendingCount += 1;
    const reply = command();
    const settled = (): void => {
      this.#pendingCount -= 1;
    };
    reply.then(settled, settled);
    try {
      return await inTime(reply, timeoutMs, () => {
        this.#counts.timeouts += 1;
        return historyTimeout();
      });
    } catch (error) {
      if (readSearchError(error).kind === 'read_only' && !this.#isClosed) this.#replicaExit.leave();
      throw error;
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new PromptHistoryFailure('unavailable', 'The prompt history is closed');
  }
}

const RETURNED = Object.values(FIELDS);

/** Little endian on every machine this runs on, as the index wants it. A copy: a script may have to be sent twice. */
const bytesOf = (vector: Float32Array): Buffer => Buffer.from(vector.slice().buffer);

/** UTF-8 carries no lone surrogates. */
const asStored = (text: string): string => Buffer.from(text).toString();
