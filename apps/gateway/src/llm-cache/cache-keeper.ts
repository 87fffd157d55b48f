/**
 * What a call leaves in the cache once its answer has ended: the entry for next time, the answer for those who wait for
 * it, and in shadow mode the comparison. Never throws and never rejects: the call is long over.
 */
import type { CachedAnswer, CacheEntry, LlmCache, NotStoredReason } from '#contracts';
import { type Cacheability, cacheability } from '#domain/llm-cache';
import type { Clock } from '#kernel';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';
import type { CacheFreshness } from './cache-freshness.js';
import type { CacheTally } from './cache-tally.js';
import type { CacheTicket } from './cache-ticket.js';
import type { SemanticMatches } from './semantic-matches.js';

export interface CacheKeeperParts {
  cache: LlmCache;
  freshness: Pick<CacheFreshness, 'claim' | 'disclaim' | 'end'>;
  tally: CacheTally;
  matches: Pick<SemanticMatches, 'compare'>;
  clock: Clock;
  onFailed: (error: unknown) => void;
}

export class CacheKeeper {
  readonly #parts: CacheKeeperParts;

  constructor(parts: CacheKeeperParts) {
    this.#parts = parts;
  }

  keep(call: ProxyCall, ticket: CacheTicket): void {
    // What the call cost is known once every step has settled.
    queueMicrotask(() => {
      this.#keep(call, ticket)
        .catch(this.#parts.onFailed)
        .finally(() => {
          ticket.land?.(null);
          if (ticket.lookUp !== null) this.#parts.freshness.end(ticket.lookUp);
        });
    });
  }

  async #keep(call: ProxyCall, ticket: CacheTicket): Promise<void> {
    const { matches, tally } = this.#parts;
    // From the cache itself, or refused here: there is no answer.
    if (call.cache !== null || wasTurnedAway(call)) return;
    const result = outcomeOf(call, ticket);
    if (!result.store) {
      tally.notStored(call.tenantId, result.reason);
      // At once: who waits goes by itself, and has nothing to do with the comparison below.
      ticket.land?.(null);
    } else {
      const stored = this.#store(call, ticket, result.answer);
      // Whoever comes from now on finds the entry: in memory it is there already, in Redis once it is written.
      if (this.#parts.cache.kind === 'redis') await stored;
      ticket.land?.({ answer: result.answer, cost_micro_usd: call.costMicroUsd });
      await stored;
    }
    const prompt = ticket.scope?.prompt;
    if (ticket.shadow !== null && prompt !== undefined && call.isAnswered && call.answer !== null)
      await matches.compare(call, { key: ticket.key, prompt }, ticket.shadow, call.answer);
  }

  async #store(call: ProxyCall, ticket: CacheTicket, answer: CachedAnswer): Promise<void> {
    const { cache, freshness, tally, clock } = this.#parts;
    const { key, scope } = ticket;
    if (ticket.lookUp === null || !freshness.claim(ticket.lookUp)) {
      tally.notStored(call.tenantId, 'outdated');
      return;
    }
    const { epoch } = ticket.lookUp;
    const entry: CacheEntry = {
      tenant_id: call.tenantId,
      key,
      scope: scope?.scope ?? null,
      agent_id: call.agentId,
      upstream: call.upstream.name,
      prompt: scope?.prompt ?? '',
      vector: ticket.vector,
      answer,
      created_at_ms: clock.nowMs(),
      cost_micro_usd: call.costMicroUsd,
      duration_ms: Math.round(call.durationMs),
    };
    // Without an epoch nobody could say what was thrown out meanwhile.
    const put = epoch === null ? 'backend_away' : await cache.put(entry, epoch);
    if (put === 'kept') return;
    freshness.disclaim(ticket.lookUp);
    tally.notStored(call.tenantId, put);
  }
}

/** No upstream was asked, and nobody left. */
const wasTurnedAway = ({ wasSent, decision }: ProxyCall): boolean =>
  !wasSent && decision !== 'upstream_failed' && decision !== 'aborted' && decision !== 'cut_off';

/** Only a whole answer of the upstream that ended by itself is kept. */
function outcomeOf(call: ProxyCall, ticket: CacheTicket): Cacheability {
  const refuse = (reason: NotStoredReason) => ({ store: false as const, reason });
  // Given words after it was looked up, while it waited for an equal one.
  if (call.injections.length > 0) return refuse('hinted');
  if (call.decision === 'aborted' || call.decision === 'cut_off') return refuse('unfinished');
  // The upstream took it up, and then brought neither a whole answer nor an error.
  if (call.wasTakenUp && !call.isAnswered && !call.answer?.failed) return refuse('unfinished');
  if (!call.wasSent || !call.isAnswered || call.status !== 200) return refuse('failed');
  return cacheability(ticket.request, call.answer);
}
