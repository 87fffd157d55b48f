/**
 * What the cache step does before the upstream is asked, in order: exact match, an equal call under way, semantic match.
 * A cache that fails in any way is a miss; how an answer is given is `CacheReplay`'s business, what a call leaves behind the keeper's.
 *
 *     miss: in which epoch?
 *           +-> equal call of it under way?  wait for its answer
 *           +-> temperature 0 and scope: embed, search this scope, veto     off | shadow: compare, serve not | on
 *           +-> upstream
 *     Whatever was waited for is served behind the gates of the proxy, passed again; to a call that was held there, only in
 *     the epoch that it was looked up in.
 */
import {
  type CacheControl,
  type CacheEpoch,
  type CacheHit,
  type CachePolicy,
  type CacheSemanticMode,
  type Cosine,
  HEADERS,
  type LlmCache,
} from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import { type Clock, deferred } from '#kernel';
import type { ProxyCall, Verdict } from '../llm-proxy/proxy-call.js';
import type { CacheEmbedder } from './cache-embedder.js';
import type { CacheFlights, Landing } from './cache-flights.js';
import type { CacheFreshness, LookUp } from './cache-freshness.js';
import type { CacheKeeper } from './cache-keeper.js';
import { CacheReplay } from './cache-replay.js';
import { identify } from './cache-request.js';
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
  freshness: CacheFreshness;
  tally: CacheTally;
  matches: SemanticMatches;
  keeper: CacheKeeper;
  /** The cache did not do its work for a call that asked for nothing else. */
  onFailed: (error: unknown) => void;
  clock: Clock;
}

/** How a call wants to be looked up. */
export interface CacheWish {
  policy: Exclude<CachePolicy, 'off'>;
  control: Exclude<CacheControl, 'bypass'> | null;
  /**
   * For a call that waits, until what it waits for has `landed` or it may not go on, whichever comes first: what stands in its
   * way by then, if anything does. May hold it, or give it words. Never rejects.
   */
  passAgain: (call: ProxyCall, landed: Promise<void>) => Promise<Verdict | undefined>;
}

/** Undefined: on to the upstream. */
type Outcome = Verdict | undefined;

export class CacheDesk {
  readonly #parts: CacheDeskParts;
  readonly #replay: CacheReplay;
  /** How often answers were thrown out here. */
  #thrownOutCount = 0;

  constructor(parts: CacheDeskParts) {
    this.#parts = parts;
    this.#replay = new CacheReplay(parts);
  }

  answer(call: ProxyCall, wish: CacheWish): Outcome | Promise<Outcome> {
    const { policy, control } = wish;
    const startedMs = performance.now();
    const identified = identify(call, call.parsedBody());
    if (identified === null) return notFound(control);
    const { canonical, identity } = identified;
    const { dialect, model, rest } = canonical;
    const { key } = identity;
    const ticket: CacheTicket = {
      request: { dialect, model, rest },
      key,
      scope: null,
      lookUp: null,
      vector: null,
      land: undefined,
      shadow: null,
    };
    call.cacheTicket = ticket;
    const { cache, freshness } = this.#parts;
    if (control === 'refresh') {
      ticket.scope = identity.scope();
      ticket.lookUp = freshness.begin(call.tenantId, key);
      return this.#refresh(call, ticket, { policy, lookUp: ticket.lookUp });
    }
    const found =
      cache instanceof MemoryLlmCache ? cache.getNow(call.tenantId, key) : cache.get(call.tenantId, key);
    if (!(found instanceof Promise) && found !== null) {
      const verdict = this.#replay.found(call, 'exact', found);
      if (verdict !== null) {
        this.#parts.tally.lookedUp(call.tenantId, performance.now() - startedMs);
        return verdict;
      }
    }
    ticket.scope = identity.scope();
    const lookUp = freshness.begin(call.tenantId, key);
    ticket.lookUp = lookUp;
    const isInMemory = cache instanceof MemoryLlmCache;
    if (isInMemory) lookUp.epoch = cache.epochNow(call.tenantId);
    // Asked for beside the entry: one that is slow to be found is mostly none.
    const epoch = isInMemory ? null : cache.epoch(call.tenantId);
    return this.#lookFurther(call, ticket, { ...wish, found, lookUp, epoch, startedMs });
  }

  /** A call that carries words of ours has nothing to do with the cache. */
  noteHinted(call: ProxyCall): void {
    this.#parts.tally.notStored(call.tenantId, 'hinted');
  }

  noteDeleted(tenantId: string, answerId: string): void {
    this.#replay.noteDeleted(tenantId, answerId);
  }

  /** By an operator here. */
  noteThrownOut(): void {
    this.#thrownOutCount += 1;
  }

  noteFailed(error: unknown): void {
    this.#parts.onFailed(error);
  }

  /** After the answer has ended. */
  settle(call: ProxyCall, ticket: CacheTicket): void {
    call.cacheTicket = null;
    this.#parts.keeper.keep(call, ticket);
  }

  async #lookFurther(
    call: ProxyCall,
    ticket: CacheTicket,
    {
      found,
      control,
      policy,
      passAgain,
      lookUp,
      epoch: askedEpoch,
      startedMs,
    }: CacheWish & {
      found: CacheHit | null | Promise<CacheHit | null>;
      lookUp: LookUp;
      /** Null: the look-up has it. */
      epoch: Promise<CacheEpoch | null> | null;
      startedMs: number;
    },
  ): Promise<Outcome> {
    const { tally, flights } = this.#parts;
    const gone = deferred();
    call.onGone = () => gone.resolve();
    let waitedMs = 0;
    /** What ends the call's way here, or sends it on with words; null: it may be served. */
    const endedBehind = async (landed: Promise<void>): Promise<{ outcome: Outcome } | null> => {
      const fromMs = performance.now();
      const { heldMs } = call;
      const stopped = await passAgain(call, landed);
      waitedMs += performance.now() - fromMs;
      if (stopped || call.isGone) return { outcome: stopped };
      if (call.injections.length > 0) return { outcome: notFound(control) };
      if (call.heldMs === heldMs) return null;
      // Found or brought before an operator looked, who may have thrown it out meanwhile.
      const epoch = await this.#parts.cache.epoch(call.tenantId);
      if (epoch !== null && epoch === lookUp.epoch) return endedBehind(LANDED);
      lookUp.epoch = epoch;
      return { outcome: this.#missed(call, control) };
    };
    try {
      const hit = found instanceof Promise ? await found : null;
      if (call.isGone) return undefined;
      if (hit !== null) {
        const ended = await endedBehind(LANDED);
        if (ended !== null) return ended.outcome;
        const exact = this.#replay.found(call, 'exact', hit);
        if (exact !== null) return exact;
      }
      lookUp.epoch ??= await askedEpoch;
      const leftMs = this.#parts.cache.waitMs - (performance.now() - startedMs - waitedMs);
      if (call.isGone) return undefined;
      const flight = this.#flightKey(lookUp);
      // A client tries again because it has waited long enough, perhaps for that very call.
      const landing = call.isRetry ? null : flights.join(flight, gone.promise);
      if (landing === null) {
        if (control !== 'only') ticket.land = flights.begin(flight);
      } else {
        const shared: { landing: Landing | null } = { landing: null };
        const landed = landing.then((brought) => {
          shared.landing = brought;
        });
        const ended = await endedBehind(landed);
        if (ended !== null) return ended.outcome;
        const verdict = shared.landing && this.#replay.brought(call, shared.landing);
        if (verdict) return verdict;
      }
      const near = policy === 'on' ? await this.#nearest(call, ticket, leftMs) : null;
      if (call.isGone) return undefined;
      if (near !== null) {
        const ended = await endedBehind(LANDED);
        if (ended !== null) return ended.outcome;
        const semantic = this.#replay.found(call, 'semantic', near);
        if (semantic !== null) return semantic;
      }
    } finally {
      call.onGone = null;
      // An equal call's upstream is no work of ours, nor is an operator's pause.
      tally.lookedUp(call.tenantId, performance.now() - startedMs - waitedMs);
    }
    return this.#missed(call, control);
  }

  /** Asks anew, and keeps what comes in place of what is there, its vector included. */
  async #refresh(
    call: ProxyCall,
    ticket: CacheTicket,
    { policy, lookUp }: { policy: CachePolicy; lookUp: LookUp },
  ): Promise<Outcome> {
    const { mode, embedder, cache } = this.#parts;
    const { scope } = ticket;
    lookUp.epoch = await cache.epoch(call.tenantId);
    if (mode !== 'off' && policy === 'on' && scope !== null)
      ticket.vector = await embedder.embed(scope.prompt, call);
    return this.#missed(call, 'refresh');
  }

  /**
   * Who asks after answers were thrown out waits for none that was under way then: those of another epoch, and where a backend that
   * is away does not say which it is, those of before the last time here.
   */
  #flightKey({ underWay, epoch }: LookUp): string {
    return `${underWay.name}\0${epoch ?? `unknown ${this.#thrownOutCount}`}`;
  }

  #missed(call: ProxyCall, control: CacheWish['control']): Outcome {
    this.#parts.tally.miss(call.tenantId);
    call.answerHeaders = { ...call.answerHeaders, [HEADERS.cache]: 'miss' };
    return notFound(control);
  }

  /**
   * Null also in shadow mode, where a match is noted and never served.
   * @param waitMs for which the backend may still be waited for
   */
  async #nearest(call: ProxyCall, ticket: CacheTicket, waitMs: number): Promise<CacheHit | null> {
    const { mode, cache, embedder, gate, tally, matches } = this.#parts;
    const { scope } = ticket;
    if (mode === 'off' || scope === null) return null;
    const vector = await embedder.embed(scope.prompt, call);
    const { model } = embedder;
    if (vector === null || model === null || call.isGone) return null;
    ticket.vector = vector;
    const hit = await cache.semanticSearch({
      tenant_id: call.tenantId,
      scope: scope.scope,
      vector,
      hitWhenCosineAtLeast: this.#parts.hitWhenCosineAtLeast ?? model.hitWhenCosineAtLeast,
      accept: ({ key, prompt }) => {
        if (matches.areDifferent(call.tenantId, key, ticket.key)) return false;
        // Strict whatever the embedder: one exchanged word, or one condition more, is the likeliest way to a confident wrong answer.
        const veto = gate(prompt, scope.prompt, { strict: true, oneAnswer: true });
        if (veto !== null) tally.vetoed(call.tenantId, veto);
        return veto === null;
      },
      serves: mode === 'on',
      waitMs,
    });
    if (hit === null || call.isGone) return null;
    if (mode === 'on') return hit;
    ticket.shadow = hit;
    tally.shadowHit(call.tenantId);
    return null;
  }
}

/** For what is there already. */
const LANDED = Promise.resolve();

/** To a request that asked for an answer from the cache or none. */
export const NOT_CACHED: Verdict = {
  kind: 'refuse',
  decision: 'refused',
  code: 'cache_miss',
  shouldRetry: false,
};

const notFound = (control: CacheWish['control']): Outcome => (control === 'only' ? NOT_CACHED : undefined);
