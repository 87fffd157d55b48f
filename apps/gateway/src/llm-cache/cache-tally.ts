/**
 * What the cache did, by tenant for its page and in all for Prometheus: one function per event. Nothing here names a
 * prompt, a key or an agent.
 */
import type { Counter, Histogram, Registry } from 'prom-client';
import type { CacheMatch, CacheStats, NotStoredReason, SemanticMatch, TextVeto } from '#contracts';
import { type Clock, RingBuffer, TtlLru } from '#kernel';
import { metersOf } from '../telemetry/metrics.js';
import { quantiles } from '../telemetry/quantiles.js';

const TENANTS_MAX = 1_000;
/** Look-ups that the percentiles are taken over. */
const LATENCIES_KEPT = 512;

export type CacheCounts = Pick<
  CacheStats,
  | 'total_hits'
  | 'total_misses'
  | 'exact_hits'
  | 'semantic_hits'
  | 'shadow_hits'
  | 'shadow_agreed'
  | 'shadow_differed'
  | 'marked_right'
  | 'marked_wrong'
  | 'wrong_hit_rate'
  | 'vetoes'
  | 'coalesced'
  | 'not_stored'
  | 'saved_usd'
  | 'unpriced_hit_count'
  | 'saved_ms'
  | 'lookup_p50_ms'
  | 'lookup_p99_ms'
>;

class TenantTally {
  exactHits = 0;
  semanticHits = 0;
  misses = 0;
  shadowHits = 0;
  shadowAgreed = 0;
  shadowDiffered = 0;
  markedRight = 0;
  markedWrong = 0;
  /** Semantic matches whose truth is known: a person's word before the comparison's. */
  knownRight = 0;
  knownWrong = 0;
  coalesced = 0;
  savedMicroUsd = 0;
  unpricedHits = 0;
  savedMs = 0;
  readonly vetoes: Partial<Record<TextVeto, number>> = {};
  readonly notStored: Partial<Record<NotStoredReason, number>> = {};
  readonly latenciesMs = new RingBuffer<number>(LATENCIES_KEPT);
}

export class CacheTally {
  readonly #tenants: TtlLru<string, TenantTally>;
  readonly #lookups: Counter<'outcome'>;
  readonly #shadow: Counter;
  readonly #verdicts: Counter<'verdict'>;
  readonly #vetoes: Counter<'reason'>;
  readonly #notStored: Counter<'reason'>;
  readonly #unembedded: Counter;
  readonly #savedUsd: Counter;
  readonly #seconds: Histogram;

  constructor(clock: Clock, metrics: Registry) {
    this.#tenants = new TtlLru({ countMax: TENANTS_MAX, idleMs: Number.POSITIVE_INFINITY, clock });
    const { counter, histogram } = metersOf(metrics);
    this.#lookups = counter(
      'cache_lookups_total',
      'Look-ups in the LLM cache, each once: exact, semantic, coalesced (an equal call was under way), miss.',
      'outcome',
    );
    this.#shadow = counter(
      'cache_shadow_hits_total',
      'Misses that would have been semantic hits, had shadow mode served them.',
    );
    this.#verdicts = counter(
      'cache_match_verdicts_total',
      'Semantic matches, served or not, of which something was found out: agreed or differed (from the real answer, in shadow mode), ' +
        'right or wrong (by a person, whose second thought counts once more).',
      'verdict',
    );
    this.#vetoes = counter(
      'cache_vetoes_total',
      'Semantic candidates refused because their texts differ in what matters.',
      'reason',
    );
    this.#notStored = counter('cache_not_stored_total', 'Answers that were not kept, by reason.', 'reason');
    this.#unembedded = counter(
      'cache_embeddings_left_out_total',
      'Texts that the embeddings API was not asked for, because it had failed several times in a row.',
    );
    this.#savedUsd = counter('cache_saved_usd_total', 'What the hits would have cost, in USD.');
    this.#seconds = histogram(
      'cache_lookup_seconds',
      'Key, look-up and, where it was asked for, the embedding.',
      [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05],
    );
  }

  hit(tenantId: string, match: CacheMatch, saved: { microUsd: number | null; ms: number }): void {
    const tally = this.#of(tenantId);
    if (match === 'exact') tally.exactHits += 1;
    else tally.semanticHits += 1;
    tally.savedMs += Math.max(0, saved.ms);
    this.#lookups.inc({ outcome: match });
    this.#saved(tally, saved.microUsd);
  }

  miss(tenantId: string): void {
    this.#of(tenantId).misses += 1;
    this.#lookups.inc({ outcome: 'miss' });
  }

  lookedUp(tenantId: string, ms: number): void {
    this.#of(tenantId).latenciesMs.push(ms);
    this.#seconds.observe(ms / 1_000);
  }

  /** An exact hit on an answer that was still on its way. */
  coalesced(tenantId: string, savedMicroUsd: number | null): void {
    const tally = this.#of(tenantId);
    tally.coalesced += 1;
    tally.exactHits += 1;
    this.#lookups.inc({ outcome: 'coalesced' });
    this.#saved(tally, savedMicroUsd);
  }

  embeddingLeftOut(): void {
    this.#unembedded.inc();
  }

  shadowHit(tenantId: string): void {
    this.#of(tenantId).shadowHits += 1;
    this.#shadow.inc();
  }

  compared(tenantId: string, agreed: boolean): void {
    const tally = this.#of(tenantId);
    this.#verdicts.inc({ verdict: agreed ? 'agreed' : 'differed' });
    if (agreed) {
      tally.shadowAgreed += 1;
      tally.knownRight += 1;
    } else {
      tally.shadowDiffered += 1;
      tally.knownWrong += 1;
    }
  }

  /** @param match as it was before this verdict */
  judged(
    tenantId: string,
    verdict: NonNullable<SemanticMatch['verdict']>,
    { verdict: before, agreed }: Pick<SemanticMatch, 'verdict' | 'agreed'>,
  ): void {
    if (verdict === before) return;
    this.#verdicts.inc({ verdict });
    const tally = this.#of(tenantId);
    const wasRight = before === null ? agreed : before === 'right';
    if (wasRight === true) tally.knownRight -= 1;
    if (wasRight === false) tally.knownWrong -= 1;
    if (before === 'right') tally.markedRight -= 1;
    if (before === 'wrong') tally.markedWrong -= 1;
    if (verdict === 'right') {
      tally.markedRight += 1;
      tally.knownRight += 1;
    } else {
      tally.markedWrong += 1;
      tally.knownWrong += 1;
    }
  }

  vetoed(tenantId: string, reason: TextVeto): void {
    const { vetoes } = this.#of(tenantId);
    vetoes[reason] = (vetoes[reason] ?? 0) + 1;
    this.#vetoes.inc({ reason });
  }

  notStored(tenantId: string, reason: NotStoredReason): void {
    const { notStored } = this.#of(tenantId);
    notStored[reason] = (notStored[reason] ?? 0) + 1;
    this.#notStored.inc({ reason });
  }

  counts(tenantId: string): CacheCounts {
    // None is kept for who looks: it would take the place of one that counts.
    const tally = this.#tenants.get(tenantId) ?? new TenantTally();
    const known = tally.knownRight + tally.knownWrong;
    const [lookup_p50_ms, lookup_p99_ms] = quantiles(tally.latenciesMs.toArray(), 0.5, 0.99);
    return {
      total_hits: tally.exactHits + tally.semanticHits,
      total_misses: tally.misses,
      exact_hits: tally.exactHits,
      semantic_hits: tally.semanticHits,
      shadow_hits: tally.shadowHits,
      shadow_agreed: tally.shadowAgreed,
      shadow_differed: tally.shadowDiffered,
      marked_right: tally.markedRight,
      marked_wrong: tally.markedWrong,
      wrong_hit_rate: known === 0 ? null : tally.knownWrong / known,
      vetoes: { ...tally.vetoes },
      coalesced: tally.coalesced,
      not_stored: { ...tally.notStored },
      saved_usd: tally.savedMicroUsd / 1e6,
      unpriced_hit_count: tally.unpricedHits,
      saved_ms: Math.round(tally.savedMs),
      lookup_p50_ms,
      lookup_p99_ms,
    };
  }

  #saved(tally: TenantTally, microUsd: number | null): void {
    tally.savedMicroUsd += microUsd ?? 0;
    if (microUsd === null) tally.unpricedHits += 1;
    this.#savedUsd.inc((microUsd ?? 0) / 1e6);
  }

  #of(tenantId: string): TenantTally {
    let tally = this.#tenants.get(tenantId);
    if (tally === undefined) {
      tally = new TenantTally();
      this.#tenants.set(tenantId, tally);
    }
    return tally;
  }
}
