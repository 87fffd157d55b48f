/**
 * Semantic matches, served or only noted by shadow mode: kept for an operator to judge, and compared with the real
 * answer where there is one. In memory, the latest of each tenant, redacted: they hold words of prompts.
 */
import {
  type CacheHit,
  type Cosine,
  type LlmAnswer,
  type LlmCache,
  type OperatorPrincipal,
  type Page,
  type SemanticMatch,
} from '#contracts';
import { encodeMatchCursor, type MatchQuery } from '#domain/llm-cache';
import { ChangeQueue, type Clock, FairLru, type IdSource, RingBuffer, TtlLru } from '#kernel';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';
import type { CacheEmbedder } from './cache-embedder.js';
import type { CacheTally } from './cache-tally.js';
import { sameAnswer } from './same-answer.js';
import type { TextGate } from './text-gate.js';

const MATCHES_PER_TENANT_MAX = 200;
const TENANTS_MAX = 1_000;
const TEXT_CHARS_MAX = 1_000;
/** Pairs of questions, over all tenants; the one that has most gives way. */
const DIFFERENT_COUNT_MAX = 10_000;

export interface SemanticMatchesParts {
  clock: Clock;
  ids: IdSource;
  tally: CacheTally;
  embedder: CacheEmbedder;
  gate: TextGate;
  cache: Pick<LlmCache, 'evict'>;
  redact: (text: string) => string;
}

/** A question as it is kept: its key and its text. */
interface Asked {
  key: string;
  prompt: string;
}

interface Matched {
  /** Of the entry. */
  key: string;
  /** Under which the question asked now would be kept. */
  askedKey: string;
  prompt: string;
  matched: string;
  cosine: Cosine;
}

interface Kept {
  match: SemanticMatch;
  askedKey: string;
}

export class SemanticMatches {
  readonly #parts: SemanticMatchesParts;
  readonly #tenants: TtlLru<string, RingBuffer<Kept>>;
  /** By both keys. The entry that goes is no end of it: either question is answered, and kept, anew. */
  readonly #different: FairLru<string, true>;
  /** By match. */
  readonly #verdicts = new ChangeQueue<string>();

  constructor(parts: SemanticMatchesParts) {
    this.#parts = parts;
    this.#tenants = new TtlLru({
      countMax: TENANTS_MAX,
      idleMs: Number.POSITIVE_INFINITY,
      clock: parts.clock,
    });
    this.#different = new FairLru({
      countMax: DIFFERENT_COUNT_MAX,
      idleMs: Number.POSITIVE_INFINITY,
      clock: parts.clock,
    });
  }

  /** Somebody said of these two questions that one's answer is none to the other. */
  areDifferent(tenantId: string, oneKey: string, otherKey: string): boolean {
    return this.#different.get(tenantId, pairOf(oneKey, otherKey)) ?? false;
  }

  served(call: ProxyCall, matched: Matched): void {
    this.#add(call, matched, { served: true, agreed: null });
  }

  /** Shadow mode: the real answer against the one that would have been served. */
  async compare(call: ProxyCall, asked: Asked, hit: CacheHit, answer: LlmAnswer): Promise<void> {
    const { embedder, gate, tally } = this.#parts;
    const cosineOf = async (one: string, other: string) => {
      const [first, second] = await Promise.all([embedder.embed(one, null), embedder.embed(other, null)]);
      if (first === null || second === null || first.model_id !== second.model_id) return null;
      return first.values.reduce((sum, value, at) => sum + value * (second.values[at] as number), 0);
    };
    const differs = (one: string, other: string) => gate(one, other, { strict: false }) !== null;
    const agreed = endedByItself(answer)
      ? await sameAnswer(answer, hit.entry.answer, { cosine: cosineOf, differs })
      : null;
    if (agreed !== null) tally.compared(call.tenantId, agreed);
    const { key, prompt: matched } = hit.entry;
    const cosine = hit.cosine as Cosine;
    this.#add(
      call,
      { key, askedKey: asked.key, prompt: asked.prompt, matched, cosine },
      { served: false, agreed },
    );
  }

  /** Newest first. Where the last match of the page before has left, those after it left before. */
  list(tenantId: string, { limit, behind }: MatchQuery): Page<SemanticMatch> {
    const newestFirst = this.#all(tenantId)
      .map(({ match }) => match)
      .reverse();
    const last = newestFirst.findIndex(({ match_id }) => match_id === behind);
    if (behind !== null && last === -1) return { items: [], next_cursor: null };
    const from = last + 1;
    const items = newestFirst.slice(from, from + limit);
    const end = from + limit >= newestFirst.length ? undefined : items.at(-1);
    return {
      items,
      next_cursor: end === undefined ? null : encodeMatchCursor(end.match_id),
    };
  }

  /**
   * A wrong one also loses its entry, and is not taken for judged before that; nor do its questions match again. A verdict that
   * is given already changes nothing.
   * @param audited writes the verdict down, which is none where it rejects, and does what belongs to it; null: nothing does
   * @throws ObservatoryError cache_unavailable; as `audited` does
   * @returns the match as judged; null: not among those that are kept
   */
  judge(
    by: OperatorPrincipal,
    matchId: string,
    verdict: 'right' | 'wrong',
    audited: (match: SemanticMatch, act: (() => Promise<unknown>) | null) => Promise<void>,
  ): Promise<SemanticMatch | null> {
    const { tenant_id: tenantId, operator_id: operatorId } = by;
    return this.#verdicts.run(matchId, async () => {
      const kept = this.#all(tenantId).find(({ match }) => match.match_id === matchId);
      if (kept === undefined) return null;
      const { match, askedKey } = kept;
      const isWrong = verdict === 'wrong';
      const isInForce = this.areDifferent(tenantId, match.key, askedKey) === isWrong;
      if (match.verdict === verdict && isInForce) return match;
      const { cache, tally } = this.#parts;
      await audited(match, isWrong ? () => cache.evict(tenantId, match.key) : null);
      const pair = pairOf(match.key, askedKey);
      if (isWrong) this.#different.set(tenantId, pair, true);
      else this.#different.delete(tenantId, pair);
      tally.judged(tenantId, verdict, match);
      match.verdict = verdict;
      match.verdict_by = operatorId;
      return match;
    });
  }

  #add(call: ProxyCall, matched: Matched, how: Pick<SemanticMatch, 'served' | 'agreed'>): void {
    const { ids, clock, redact } = this.#parts;
    const cut = (text: string) => redact(text).slice(0, TEXT_CHARS_MAX);
    const match: SemanticMatch = {
      match_id: ids.next(),
      at_ms: clock.nowMs(),
      agent_id: call.agentId,
      model: call.summary?.model ?? null,
      call_id: call.id,
      key: matched.key,
      cosine: matched.cosine,
      prompt: cut(matched.prompt),
      matched_prompt: cut(matched.matched),
      ...how,
      verdict: null,
      verdict_by: null,
    };
    this.#of(call.tenantId).push({ match, askedKey: matched.askedKey });
  }

  #all(tenantId: string): Kept[] {
    return this.#tenants.get(tenantId)?.toArray() ?? [];
  }

  #of(tenantId: string): RingBuffer<Kept> {
    let matches = this.#tenants.get(tenantId);
    if (matches === undefined) {
      matches = new RingBuffer(MATCHES_PER_TENANT_MAX);
      this.#tenants.set(tenantId, matches);
    }
    return matches;
  }
}

/** What was cut off, by its length or a filter, says nothing of what it would have come to. */
const endedByItself = ({ finish }: LlmAnswer): boolean => finish === 'stop' || finish === 'tool_calls';

const pairOf = (one: string, other: string): string => (one < other ? `${one} ${other}` : `${other} ${one}`);
