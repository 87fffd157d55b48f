/** Puts the LLM cache together: where answers are kept, where vectors come from, and what is told of both. */
import type { Registry } from 'prom-client';
import {
  type CacheEntryView,
  type CacheInvalidate,
  type CacheStats,
  type EmbeddingService,
  type LlmCache,
  type OperatorPrincipal,
  type Page,
  type PageQuery,
  type SemanticMatch,
} from '#contracts';
import { redact } from '#domain/kill-switch';
import { readEntryQuery, readMatchQuery } from '#domain/llm-cache';
import { decideVeto } from '#domain/text-likeness';
import type { Clock, IdSource } from '#kernel';
import type { AuditLine, SettingsAudit } from '../auth/settings-audit.js';
import type { LlmCacheConfig } from '../config/llm-cache-config.js';
import { CacheDesk } from './cache-desk.js';
import {
  type CacheEmbedder,
  OwnCacheEmbedder,
  type OwnEmbedderEvents,
  SidecarCacheEmbedder,
} from './cache-embedder.js';
import { CacheFlights } from './cache-flights.js';
import { CacheFreshness } from './cache-freshness.js';
import { registerCacheGauges } from './cache-gauges.js';
import { CacheKeeper } from './cache-keeper.js';
import { CacheTally } from './cache-tally.js';
import { openCacheEmbedder } from './open-cache-embedder.js';
import { SemanticMatches } from './semantic-matches.js';

export interface LlmCacheDependencies {
  clock: Clock;
  ids: IdSource;
  metrics: Registry;
  config: LlmCacheConfig;
  /** Of an embeddings API that asks for one. */
  embeddingApiKey: string | null;
  /** Null: switched off. */
  cache: LlmCache | null;
  sidecar: EmbeddingService;
  sidecarTimeoutMs: number;
  audit: SettingsAudit;
}

export class LlmCacheArea {
  /** Null: switched off. */
  readonly desk: CacheDesk | null;
  /** Told of each call for which the cache, or a part of it, did not do its work. */
  onFailedOpen: (error: unknown) => void = () => {};
  readonly #config: LlmCacheConfig;
  readonly #cache: LlmCache | null;
  readonly #embedder: CacheEmbedder;
  readonly #tally: CacheTally;
  readonly #matches: SemanticMatches | null;
  readonly #audit: SettingsAudit;

  constructor(parts: LlmCacheDependencies) {
    const { clock, ids, config, cache, metrics } = parts;
    this.#config = config;
    this.#audit = parts.audit;
    this.#cache = cache;
    this.#tally = new CacheTally(clock, metrics);
    const onFailed = (error: unknown) => this.onFailedOpen(error);
    this.#embedder = makeEmbedder(parts, { onFailed, onLeftAlone: () => this.#tally.embeddingLeftOut() });
    if (cache === null) {
      this.desk = null;
      this.#matches = null;
      return;
    }
    registerCacheGauges(cache, metrics);
    const shared = { clock, tally: this.#tally, embedder: this.#embedder, gate: decideVeto, cache };
    this.#matches = new SemanticMatches({ ...shared, ids, redact });
    const freshness = new CacheFreshness();
    this.desk = new CacheDesk({
      ...shared,
      freshness,
      mode: config.semanticMode,
      hitWhenCosineAtLeast: config.hitWhenCosineAtLeast,
      flights: new CacheFlights(),
      matches: this.#matches,
      keeper: new CacheKeeper({ ...shared, freshness, matches: this.#matches, onFailed }),
      onFailed,
    });
  }

  async stats(tenantId: string): Promise<CacheStats> {
    const { semanticMode, hitWhenCosineAtLeast } = this.#config;
    const kept = (await this.#cache?.stats(tenantId)) ?? { total_entries: 0, total_bytes: 0 };
    const compares = this.#cache !== null && semanticMode !== 'off';
    const model = compares ? await this.#embedder.describe() : null;
    return {
      backend: this.#cache?.kind ?? 'off',
      is_degraded: this.#cache?.isDegraded ?? false,
      semantic_mode: semanticMode,
      embedding_model: model?.model_id ?? null,
      hit_when_cosine_at_least: hitWhenCosineAtLeast ?? model?.hitWhenCosineAtLeast ?? null,
      ...kept,
      ...this.#tally.counts(tenantId),
    };
  }

  /**
   * What calls of the tenant have under way, at any gateway, is not kept either, whether or not it would match.
   * @returns how many entries match; what was removed stands in the audit
   * @throws ObservatoryError cache_unavailable; as the store does, and then nothing was removed
   */
  invalidate(operator: OperatorPrincipal, wanted: CacheInvalidate): Promise<number> {
    const { tenant_id: tenantId } = operator;
    const { pattern = null, preview } = wanted;
    const invalidate = async () => {
      const count = (await this.#cache?.invalidate(tenantId, pattern, preview)) ?? 0;
      if (!preview) this.desk?.noteThrownOut();
      return count;
    };
    if (preview) return invalidate();
    return this.#audit.around([operator, tenantId, 'invalidate_cache', { pattern }], invalidate, (count) => ({
      count,
    }));
  }

  /** @throws ObservatoryError invalid_request, whether there is a cache or not */
  async entries(tenantId: string, query: PageQuery): Promise<Page<CacheEntryView>> {
    readEntryQuery(query);
    return (await this.#cache?.entries({ tenant_id: tenantId, ...query })) ?? NOTHING;
  }

  /** @throws ObservatoryError invalid_request, whether there is a cache or not */
  matches(tenantId: string, query: PageQuery): Page<SemanticMatch> {
    const read = readMatchQuery(query);
    return this.#matches?.list(tenantId, read) ?? NOTHING;
  }

  /** @returns null for a match that is not kept any more */
  async judge(
    operator: OperatorPrincipal,
    matchId: string,
    verdict: 'right' | 'wrong',
  ): Promise<SemanticMatch | null> {
    const audited = async ({ call_id, key }: SemanticMatch, act: (() => Promise<unknown>) | null) => {
      const detail = { verdict, call_id, key };
      const line: AuditLine = [operator, operator.tenant_id, 'judge_cache_match', detail];
      await (act === null ? this.#audit.record(...line) : this.#audit.around(line, act));
    };
    const judged = (await this.#matches?.judge(operator, matchId, verdict, audited)) ?? null;
    if (verdict === 'wrong') this.desk?.noteThrownOut();
    return judged;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#embedder.close(), this.#cache?.close()]);
  }
}

const NOTHING = { items: [], next_cursor: null };

function makeEmbedder(
  { clock, config, embeddingApiKey, sidecar, sidecarTimeoutMs }: LlmCacheDependencies,
  told: OwnEmbedderEvents,
): CacheEmbedder {
  const { embedding } = config;
  if (embedding.provider === 'local')
    return new SidecarCacheEmbedder(sidecar, sidecarTimeoutMs, told.onFailed);
  return new OwnCacheEmbedder(() => openCacheEmbedder(embedding, embeddingApiKey), clock, told);
}
