/**
 * Gives a kept answer to whoever asked, in the caller's own dialect, streamed or not. What its vendor was had to delete is given
 * to nobody: no conversation could go on from it.
 */
import { type CachedAnswer, type CacheHit, type CacheMatch, HEADERS, type LlmAnswer } from '#contracts';
import { type Clock, FairLru, HOUR_MS } from '#kernel';
import type { ProxyCall, Verdict } from '../llm-proxy/proxy-call.js';
import type { Landing } from './cache-flights.js';
import type { CacheTally } from './cache-tally.js';
import type { SemanticMatches } from './semantic-matches.js';

/** Answers that their vendor has deleted, over all tenants; the one that has most gives way. */
const DELETED_COUNT_MAX = 10_000;
/** Longer than most entries live. */
const DELETED_IDLE_MS = 24 * HOUR_MS;

interface CacheReplayParts {
  tally: CacheTally;
  matches: SemanticMatches;
  clock: Clock;
}

export class CacheReplay {
  readonly #parts: CacheReplayParts;
  /** By the vendor's ids. */
  readonly #deleted: FairLru<string, true>;

  constructor(parts: CacheReplayParts) {
    this.#parts = parts;
    const { clock } = parts;
    this.#deleted = new FairLru({ countMax: DELETED_COUNT_MAX, idleMs: DELETED_IDLE_MS, clock });
  }

  /** Nobody could go on from it any more, and somebody wanted it gone. */
  noteDeleted(tenantId: string, answerId: string): void {
    this.#deleted.set(tenantId, answerId, true);
  }

  /** Null: this caller cannot have that answer. */
  found(call: ProxyCall, match: CacheMatch, { entry, age_ms, cosine }: CacheHit): Verdict | null {
    const verdict = this.#give(call, entry.answer, {
      match,
      age_s: Math.max(0, Math.floor(age_ms / 1_000)),
      cosine,
      saved_usd: entry.cost_micro_usd === null ? null : entry.cost_micro_usd / 1e6,
    });
    if (verdict === null) return null;
    const { tally, matches } = this.#parts;
    const saved = { microUsd: entry.cost_micro_usd, ms: entry.duration_ms - call.elapsedMs() };
    tally.hit(call.tenantId, match, saved);
    const ticket = call.cacheTicket;
    if (cosine !== null && ticket?.scope) {
      const { key: askedKey, scope } = ticket;
      matches.served(call, { key: entry.key, askedKey, matched: entry.prompt, prompt: scope.prompt, cosine });
    }
    return verdict;
  }

  /** Of an equal call. @returns null: this caller cannot have it */
  brought(call: ProxyCall, landing: Landing): Verdict | null {
    const saved_usd = landing.cost_micro_usd === null ? null : landing.cost_micro_usd / 1e6;
    const verdict = this.#give(call, landing.answer, { match: 'exact', age_s: 0, cosine: null, saved_usd });
    if (verdict !== null) this.#parts.tally.coalesced(call.tenantId, landing.cost_micro_usd);
    return verdict;
  }

  #give(call: ProxyCall, answer: CachedAnswer, cache: NonNullable<ProxyCall['cache']>): Verdict | null {
    if (answer.answer_id !== null && this.#deleted.get(call.tenantId, answer.answer_id)) return null;
    const own = call.dialect?.writeReplay({
      answer,
      body: call.parsedBody(),
      path: call.path,
      query: call.target.query,
      id: call.id,
      atMs: this.#parts.clock.nowMs(),
    });
    if (!own) return null;
    call.cache = cache;
    call.answer = asAnswer(answer);
    call.answerHeaders = {
      ...call.answerHeaders,
      [HEADERS.cache]: cache.match,
      [HEADERS.cacheAge]: String(cache.age_s),
      ...(cache.cosine !== null && { [HEADERS.cacheCosine]: cache.cosine.toFixed(4) }),
    };
    const detail =
      cache.cosine === null
        ? `The same request was answered ${cache.age_s} s ago.`
        : `A question of the same meaning (cosine ${cache.cosine.toFixed(3)}) was answered ${cache.age_s} s ago.`;
    return { kind: 'replay', decision: 'cached', own, detail };
  }
}

/** For the detectors: a cached answer is as much a repetition as a fresh one. Its tokens were paid for once. */
const asAnswer = ({ model, text, tool_calls, finish, answer_id }: CachedAnswer): LlmAnswer => ({
  model,
  text,
  tool_calls,
  finish,
  usage: null,
  failed: false,
  lossless: true,
  answer_id,
});
