/**
 * What the cache step does, in order: exact match, an equal call under way, semantic match, and after the answer the
 * entry for next time. A cache that fails in any way is a miss.
 *
 *     miss -+-> equal call under way?  wait for its answer
 *           +-> temperature 0 and scope: embed, search this scope, veto     off | shadow: compare, serve not | on
 *           +-> upstream ... settled: keep the answer, tell those who wait, compare with the shadow's
 */
import {
  type CacheControl,
  type CachedAnswer,
  type CacheHit,
  type CacheMatch,
  type CachePolicy,
  type CacheSemanticMode,
  type Cosine,
  HEADERS,
  type LlmAnswer,
  type LlmCache,
} from '#contracts';
import { cacheability, MemoryLlmCache } from '#domain/llm-cache';
import { type Clock, deferred } from '#kernel';
import type { ProxyCall, Verdict } from '../llm-proxy/proxy-call.js';
import type { CacheEmbedder } from './cache-embedder.js';
import type { CacheFlights, Landing } from './cache-flights.js';
import { cacheControlOf, identify } from './cache-request.js';
import type { CacheTally } from './cache-tally.js';
import type { CacheTicket } from './cache-ticket.js';
import type { SemanticMatches } from './semantic-matches.js';
import type { TextGate } from './text-gate.js';

export interface CacheDeskParts {
  cache: LlmCache;
  mode: CacheSemanticMode;
  /** Null: the embedder's own. */
  hitWhenCosineAtLeast: Cosine | null;
  embedder: CacheEmbedder;
  gate: TextGate;
  flights: CacheFlights;
  tally: CacheTally;
  matches: SemanticMatches;
  clock: Clock;
}

/** Verdicts of this step; undefined: on to the upstream. */
type Outcome = Verdict | undefined;

export class CacheDesk {
  readonly #parts: CacheDeskParts;

  constructor(parts: CacheDeskParts) {
    this.#parts = parts;
  }

  /** @throws ObservatoryError invalid_request for a cache header that means nothing */
  answer(call: ProxyCall, policy: Exclude<CachePolicy, 'off'>): Outcome | Promise<Outcome> {
    const control = cacheControlOf(call.incoming.headers);
    if (control === 'bypass') return undefined;
    const startedMs = performance.now();
    const identified = identify(call, call.parsedBody());
    if (identified === null) return undefined;
    const ticket: CacheTicket = { ...identified, vector: null, land: undefined, shadow: null };
    call.cacheTicket = ticket;
    const { cache } = this.#parts;
    if (control === 'refresh') return this.#missed(call, ticket);
    const { key } = ticket.identity;
    const found =
      cache instanceof MemoryLlmCache ? cache.getNow(call.tenantId, key) : cache.get(call.tenantId, key);
    if (!(found instanceof Promise) && found !== null) {
      const verdict = this.#replay(call, 'exact', found);
      if (verdict !== null) {
        this.#parts.tally.lookedUp(call.tenantId, performance.now() - startedMs);
        return verdict;
      }
    }
    return this.#lookFurther(call, ticket, { found, control, policy, startedMs });
  }

  /** A call that carries words of ours has nothing to do with the cache. */
  noteHinted(call: ProxyCall): void {
    this.#parts.tally.notStored(call.tenantId, 'hinted');
  }

  /** After the answer has ended. */
  settle(call: ProxyCall, ticket: CacheTicket): void {
    call.cacheTicket = null;
    // What the call cost is known once every step has settled.
    queueMicrotask(() => this.#keep(call, ticket));
  }

  async #lookFurther(
    call: ProxyCall,
    ticket: CacheTicket,
    {
      found,
      control,
      policy,
      startedMs,
    }: {
      found: CacheHit | null | Promise<CacheHit | null>;
      control: CacheControl | null;
      policy: CachePolicy;
      startedMs: number;
    },
  ): Promise<Outcome> {
    const { tally, flights } = this.#parts;
    const gone = deferred();
    call.onGone = () => gone.resolve();
    try {
      const hit = found instanceof Promise ? await found : null;
      const exact = hit && this.#replay(call, 'exact', hit);
      if (exact) return exact;
      const landing = flights.join(flightKey(call, ticket));
      if (landing === null) {
        if (control !== 'only') ticket.land = flights.begin(flightKey(call, ticket));
      } else {
        const shared = await Promise.race([landing, gone.promise]);
        const verdict = shared && this.#replayShared(call, shared);
        if (verdict) return verdict;
      }
      if (call.isGone) return undefined;
      const semantic = policy === 'on' ? await this.#semantic(call, ticket) : null;
      if (semantic !== null) return semantic;
    } finally {
      call.onGone = null;
      tally.lookedUp(call.tenantId, performance.now() - startedMs);
    }
    return control === 'only' ? NOT_CACHED : this.#missed(call, ticket);
  }

  #missed(call: ProxyCall, _ticket: CacheTicket): undefined {
    this.#parts.tally.miss(call.tenantId);
    call.answerHeaders = { ...call.answerHeaders, [HEADERS.cache]: 'miss' };
  }

  async #semantic(call: ProxyCall, ticket: CacheTicket): Promise<Verdict | null> {
    const { mode, cache, embedder, gate, tally } = this.#parts;
    const { scope } = ticket.identity;
    if (mode === 'off' || scope === null) return null;
    const vector = await embedder.embed(scope.prompt, call.traceParent);
    const { model } = embedder;
    if (vector === null || model === null) return null;
    ticket.vector = vector;
    const hit = await cache.semanticSearch({
      tenant_id: call.tenantId,
      scope: scope.scope,
      vector,
      hitWhenCosineAtLeast: this.#parts.hitWhenCosineAtLeast ?? model.hitWhenCosineAtLeast,
      accept: ({ prompt }) => {
        // Strict whatever the embedder: one exchanged word is the likeliest way to a confident wrong answer.
        const veto = gate(prompt, scope.prompt, { strict: true });
        if (veto !== null) tally.vetoed(call.tenantId, veto);
        return veto === null;
      },
    });
    if (hit === null) return null;
    if (mode === 'on') return this.#replay(call, 'semantic', hit);
    ticket.shadow = hit;
    tally.shadowHit(call.tenantId);
    return null;
  }

  /** Null: this caller cannot have that answer. */
  #replay(call: ProxyCall, match: CacheMatch, { entry, age_ms, cosine }: CacheHit): Verdict | null {
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
    if (match === 'semantic' && ticket?.identity.scope)
      matches.served(call, {
        key: entry.key,
        matched: entry.prompt,
        prompt: ticket.identity.scope.prompt,
        cosine: cosine as Cosine,
      });
    return verdict;
  }

  #replayShared(call: ProxyCall, landing: Landing): Verdict | null {
    const saved_usd = landing.cost_micro_usd === null ? null : landing.cost_micro_usd / 1e6;
    const verdict = this.#give(call, landing.answer, { match: 'exact', age_s: 0, cosine: null, saved_usd });
    if (verdict === null) return null;
    const { tally } = this.#parts;
    tally.coalesced(call.tenantId);
    tally.hit(call.tenantId, 'exact', { microUsd: landing.cost_micro_usd, ms: 0 });
    return verdict;
  }

  #give(call: ProxyCall, answer: CachedAnswer, cache: NonNullable<ProxyCall['cache']>): Verdict | null {
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

  #keep(call: ProxyCall, ticket: CacheTicket): void {
    const kept = this.#keepable(call, ticket);
    ticket.land?.(kept && { answer: kept, cost_micro_usd: call.costMicroUsd, duration_ms: call.durationMs });
    if (kept !== null) void this.#store(call, ticket, kept);
    if (ticket.shadow !== null && call.isAnswered && call.answer !== null)
      void this.#parts.matches.compare(call, ticket.identity.scope?.prompt ?? '', ticket.shadow, call.answer);
  }

  #keepable(call: ProxyCall, ticket: CacheTicket): CachedAnswer | null {
    // From the cache itself, or never sent.
    if (call.cache !== null || !call.wasSent) return null;
    const { tally } = this.#parts;
    const isWhole = call.isAnswered && call.status === 200;
    const result = cacheability(ticket.canonical, call.answer);
    const reason = !isWhole
      ? call.decision === 'aborted'
        ? 'unfinished'
        : 'failed'
      : result.store
        ? null
        : result.reason;
    if (reason === null && result.store) return result.answer;
    tally.notStored(call.tenantId, reason ?? 'lossy');
    return null;
  }

  async #store(call: ProxyCall, ticket: CacheTicket, answer: CachedAnswer): Promise<void> {
    const { cache, tally, clock } = this.#parts;
    const { key, scope } = ticket.identity;
    const isStored = await cache.put({
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
    });
    if (!isStored) tally.notStored(call.tenantId, cache.isDegraded ? 'backend_away' : 'too_large');
  }
}

const flightKey = ({ tenantId }: ProxyCall, { identity }: CacheTicket): string =>
  `${tenantId}\0${identity.key}`;

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

const NOT_CACHED: Verdict = {
  kind: 'refuse',
  decision: 'refused',
  code: 'cache_miss',
  shouldRetry: false,
};
