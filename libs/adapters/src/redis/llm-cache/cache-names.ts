/**
 * Where the cache lives in Redis. Tenants and scopes appear as hashes only: ids may hold anything, and what a hash names
 * no other id can be spelled to name. The braces are hash tags: a cluster keeps what one script touches in one slot.
 *
 *     <prefix>:{<tenant>:<key>}                        entry: digest and JSON, expires by itself
 *     <prefix>_emb:{<scope>}:<key>                     hash of a vector (and `s`, its scope, for a query engine)
 *     <prefix>_scope:{<scope>}                         sorted set of the keys that have a vector, by expiry
 *     <prefix>_index:{<tenant>}                        sorted set of all keys, by expiry
 *     <prefix>_meta | _hits | _used | _bytes:{<tenant>}   of each key its view, hits and last use; bytes of all
 *     <prefix>_epoch:{<tenant>}                        the tenant's epoch
 */
import { hash } from 'node:crypto';

/** Of a name's hash: 128 bits. */
const TAG_CHARS = 32;
const KEY = /^[0-9a-f]{64}$/;

/** Six keys of one slot; the order in which the scripts take them. */
export type TenantNames = readonly [
  index: string,
  meta: string,
  hits: string,
  used: string,
  bytes: string,
  epoch: string,
];

export class CacheNames {
  readonly #prefix: string;

  /** @throws RangeError for a prefix with braces, which would end a hash tag early */
  constructor(prefix: string) {
    if (prefix === '' || /[{}]/.test(prefix))
      throw new RangeError('keyPrefix must not be empty nor hold braces: they mark the hash tag');
    this.#prefix = prefix;
  }

  /** What cannot be a key names nothing. */
  static isKey(key: string): boolean {
    return KEY.test(key);
  }

  entry(tenantId: string, key: string): string {
    return `${this.#prefix}:{${tag(tenantId)}:${key}}`;
  }

  tenant(tenantId: string): TenantNames {
    const name = tag(tenantId);
    const of = (what: string): string => `${this.#prefix}_${what}:{${name}}`;
    return [of('index'), of('meta'), of('hits'), of('used'), of('bytes'), of('epoch')];
  }

  /** Of a tenant's scope: 32 hex digits. */
  scopeTag(tenantId: string, scope: string): string {
    return tag(`${tag(tenantId)}\0${scope}`);
  }

  scope(scopeTag: string): string {
    return `${this.#prefix}_scope:{${scopeTag}}`;
  }

  /** Followed by a key: the vector of it. */
  vectorsOf(scopeTag: string): string {
    return `${this.#prefix}_emb:{${scopeTag}}:`;
  }

  /** Every vector's name begins so. */
  get vectors(): string {
    return `${this.#prefix}_emb:`;
  }

  /** Of a query engine, for vectors of one model and dimension. */
  engineIndex(field: string): string {
    return `${this.#prefix}_knn_${field}`;
  }

  /** Where a vector's hash holds it: models and dimensions never meet. */
  static vectorField(modelId: string, dimension: number): string {
    return `v_${tag(modelId).slice(0, 16)}_${dimension}`;
  }
}

const tag = (text: string): string => hash('sha256', text).slice(0, TAG_CHARS);
