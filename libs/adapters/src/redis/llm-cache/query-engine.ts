/**
 * The nearest vectors of a scope by the query engine of Redis 8 or Redis Stack, where there is one: then a large scope
 * costs no more to ask than a small one. Asks once whether there is. Its index is flat, thus exact,
 * and what it finds is computed once more by the caller.
 */
import type { RedisFailure } from '../redis-failure.js';
import { searchDocuments } from '../search-documents.js';
import type { CacheLink } from './cache-link.js';
import { CacheNames } from './cache-names.js';

const PROBE_WAIT_MS = 1_000;

export interface FoundVector {
  key: string;
  blob: Buffer;
}

export class QueryEngine {
  readonly #link: CacheLink;
  readonly #names: CacheNames;
  /** Null: not known yet. */
  #isThere: boolean | null = null;
  #isAsking = false;
  /** Indices that are there, by the field they are of. */
  readonly #indices = new Set<string>();

  /** @param isPossible false for a cluster: its nodes would each answer for themselves only */
  constructor(link: CacheLink, names: CacheNames, isPossible: boolean) {
    this.#link = link;
    this.#names = names;
    if (!isPossible) this.#isThere = false;
  }

  /** True: `search` may be used. False starts to find out, or to make the index, without waiting for it. */
  isReadyFor(modelId: string, dimension: number): boolean {
    const field = CacheNames.vectorField(modelId, dimension);
    if (this.#isThere === true && this.#indices.has(field)) return true;
    if (this.#isThere !== false && !this.#isAsking) void this.#prepare(field, dimension);
    return false;
  }

  /** Never rejects. */
  async #prepare(field: string, dimension: number): Promise<void> {
    this.#isAsking = true;
    const { client } = this.#link;
    const index = this.#names.engineIndex(field);
    const schema = ['s', 'TAG', field, 'VECTOR', 'FLAT', '6', 'TYPE', 'FLOAT32', 'DIM', String(dimension)];
    const create = ['ON', 'HASH', 'PREFIX', '1', this.#names.vectors, 'SCHEMA', ...schema];
    try {
      this.#isThere ??= await this.#link.ask(index, PROBE_WAIT_MS, () =>
        (client.call('FT._LIST') as Promise<unknown>).then(
          () => true,
          (error: unknown) => {
            // A plain Redis does not know the command, which is no failure of it.
            if (/unknown command/i.test(String((error as Error).message))) return false;
            throw error;
          },
        ),
      );
      if (!this.#isThere) return;
      await this.#link.ask(index, PROBE_WAIT_MS, () =>
        (client.call('FT.CREATE', index, ...create, 'DISTANCE_METRIC', 'COSINE') as Promise<unknown>).catch(
          (error: unknown) => {
            if (!/already exists/i.test(String((error as Error).message))) throw error;
          },
        ),
      );
      this.#indices.add(field);
    } catch (error) {
      // There is no such command, or it is not allowed. Anything else may pass.
      if ((error as RedisFailure).isAnswer) this.#isThere = false;
    } finally {
      this.#isAsking = false;
    }
  }

  /**
   * @param scopeTag hex digits, which a query needs no escape for
   * @returns the nearest, nearest first; null: it could not be asked, do without
   */
  async search(
    scopeTag: string,
    field: string,
    query: Buffer,
    countMax: number,
    timeoutMs: number,
  ): Promise<FoundVector[] | null> {
    const knn = `(@s:{${scopeTag}})=>[KNN ${countMax} @${field} $q AS distance]`;
    const index = this.#names.engineIndex(field);
    const options = ['SORTBY', 'distance', 'RETURN', '1', field, 'LIMIT', '0', String(countMax)];
    try {
      const reply = await this.#link.ask(
        index,
        timeoutMs,
        () =>
          this.#link.client.callBuffer(
            'FT.SEARCH',
            index,
            knn,
            'PARAMS',
            '2',
            'q',
            query,
            ...options,
            'DIALECT',
            '2',
          ) as Promise<unknown>,
      );
      return readSearchReply(reply, field, this.#names.vectors);
    } catch (error) {
      // Flushed away, perhaps: it is made again.
      if ((error as RedisFailure).reason !== 'reply') throw error;
      this.#indices.delete(field);
      return null;
    }
  }
}

/** Whatever the reply holds that is a vector of ours. */
const readSearchReply = (reply: unknown, field: string, prefix: string): FoundVector[] =>
  (searchDocuments(reply) ?? []).flatMap(({ key: name, fields }) => {
    const blob = fields?.get(field);
    const key = name.slice(-64);
    const isOurs = name.startsWith(prefix) && CacheNames.isKey(key) && Buffer.isBuffer(blob);
    return isOurs ? [{ key, blob }] : [];
  });
