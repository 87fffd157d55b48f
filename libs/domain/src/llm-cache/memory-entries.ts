/** What the cache in memory keeps: each tenant's own entries in the order of their use, apart from all others'. */
import type { CacheEntry } from '#contracts';
import type { VectorArena } from './vector-arena.js';
import { VectorSet } from './vector-set.js';

/** An entry and what has become of it. */
export interface KeptEntry {
  /** Frozen, and without its vector. */
  readonly entry: CacheEntry;
  readonly shelf: TenantShelf;
  readonly byteCount: number;
  /** On the cache's own time, which never runs backwards. */
  readonly bornMs: number;
  hitCount: number;
  lastHitAtMs: number | null;
  /** Where its vector is, and at which place in it. */
  vectors: ModelVectors | null;
  slot: number;
  older: KeptEntry | null;
  newer: KeptEntry | null;
}

/** Vectors of one scope, model and dimension. */
export interface ModelVectors {
  readonly modelId: string;
  readonly set: VectorSet<KeptEntry>;
}

/** Least recently used first; order is kept by links inside the entries, so that a use costs a few writes. */
export class UseOrder {
  oldest: KeptEntry | null = null;
  #newest: KeptEntry | null = null;

  add(kept: KeptEntry): void {
    kept.older = this.#newest;
    kept.newer = null;
    if (this.#newest !== null) this.#newest.newer = kept;
    this.#newest = kept;
    this.oldest ??= kept;
  }

  remove(kept: KeptEntry): void {
    if (kept.older !== null) kept.older.newer = kept.newer;
    else this.oldest = kept.newer;
    if (kept.newer !== null) kept.newer.older = kept.older;
    else this.#newest = kept.older;
    kept.older = null;
    kept.newer = null;
  }

  touch(kept: KeptEntry): void {
    if (kept === this.#newest) return;
    this.remove(kept);
    this.add(kept);
  }
}

/** One tenant's entries. Nothing of another tenant can be reached from here. */
export class TenantShelf {
  readonly tenantId: string;
  readonly entries = new Map<string, KeptEntry>();
  readonly order = new UseOrder();
  byteCount = 0;
  readonly #scopes = new Map<string, ModelVectors[]>();
  readonly #arena: VectorArena | null;

  constructor(tenantId: string, arena: VectorArena | null) {
    this.tenantId = tenantId;
    this.#arena = arena;
  }

  findVectors(scope: string, modelId: string, dimension: number): ModelVectors | null {
    return (
      this.#scopes
        .get(scope)
        ?.find((vectors) => vectors.modelId === modelId && vectors.set.dimension === dimension) ?? null
    );
  }

  addVectors(scope: string, modelId: string, dimension: number): ModelVectors {
    const vectors = { modelId, set: new VectorSet<KeptEntry>(dimension, this.#arena) };
    const ofScope = this.#scopes.get(scope);
    if (ofScope === undefined) this.#scopes.set(scope, [vectors]);
    else ofScope.push(vectors);
    return vectors;
  }

  dropVectors(scope: string, vectors: ModelVectors): void {
    vectors.set.clear();
    const ofScope = this.#scopes.get(scope) ?? [];
    if (ofScope.length <= 1) this.#scopes.delete(scope);
    else ofScope.splice(ofScope.indexOf(vectors), 1);
  }
}
