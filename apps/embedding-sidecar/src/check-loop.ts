/**
 * A check from end to end: validate, embed, wait for the session's turn, compare, decide, answer, remember. The answer
 * does not wait for the remembering, but the next check of that session does.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Embedder,
  type Embedding,
  type LoopAnswer,
  type LoopQuery,
  type LoopSimilarity,
  type PromptHistory,
  type PromptScope,
  SidecarFailure,
} from '#contracts/embedding';
import type { Clock, IdSource } from '#kernel';
import { decideLoop } from './decide-loop.js';
import { ScopeLanes, type Turn } from './scope-lanes.js';

/** Tenant, session, agent and request ids. */
const ID_CHARS_MAX = 1_024;
/** Checks of one agent in one session under way: it asks one thing after another. */
const SCOPE_CHECKS_MAX = 64;

/** Durations in milliseconds. */
export interface CheckObserver {
  embedded(ms: number): void;
  /** From the vector until the session's earlier checks were through. */
  queued(ms: number): void;
  searched(ms: number): void;
  recorded(ms: number): void;
  /** Answered already: nobody else hears of it. */
  recordFailed(error: unknown): void;
}

export interface CheckLoopParts {
  embedder: Embedder;
  history: PromptHistory;
  /** Why two prompts are different questions in spite of their likeness; null: they are not. */
  vetoOf: (earlier: string, later: string) => string | null;
  clock: Clock;
  ids: IdSource;
  observer: CheckObserver;
  /** In force where the query has none; exclusive. */
  loopWhenSimilarityAbove: LoopSimilarity;
  /** Checks under way; a tenant has at most as many as are left free, so half of them if it is alone. */
  checksMax: number;
  /** Monotonic milliseconds; only differences count. */
  elapsedMs?: () => number;
}

export class CheckLoop {
  readonly #parts: CheckLoopParts;
  readonly #elapsedMs: () => number;
  readonly #lanes = new ScopeLanes(SCOPE_CHECKS_MAX);
  readonly #underWayByTenant = new Map<string, number>();
  #underWayCount = 0;

  constructor(parts: CheckLoopParts) {
    this.#parts = parts;
    this.#elapsedMs = parts.elapsedMs ?? (() => performance.now());
  }

  /** Including those answered whose prompt is still being remembered. */
  get underWayCount(): number {
    return this.#underWayCount;
  }

  /**
   * @param timeoutMs past it a check that has not been compared costs nothing more and is not remembered; one that has is, for
   * its prompt was sent without it
   * @throws SidecarFailure, EmbeddingFailure, PromptHistoryFailure, by rejection
   */
  async run(query: LoopQuery, timeoutMs?: number): Promise<LoopAnswer> {
    requireValid(query);
    const scope = scopeOf(query);
    const ofTenant = this.#underWayByTenant.get(scope.tenant_id) ?? 0;
    if (ofTenant >= this.#parts.checksMax - this.#underWayCount)
      throw new SidecarFailure('busy', 'too many checks under way');
    const turn = this.#lanes.enter(JSON.stringify([scope.tenant_id, scope.session_id]));
    if (turn === null) throw new SidecarFailure('busy', 'too many checks of one session under way');
    this.#countUnderWay(scope.tenant_id, 1);
    const remembered: { done: Promise<void> | null } = { done: null };
    try {
      return await this.#check({ ...query, ...scope }, turn, timeoutMs, remembered);
    } finally {
      void this.#leave(scope.tenant_id, turn, remembered.done);
    }
  }

  async #check(
    query: LoopQuery,
    turn: Turn,
    timeoutMs: number | undefined,
    remembered: { done: Promise<void> | null },
  ): Promise<LoopAnswer> {
    const { embedder, history, observer, vetoOf } = this.#parts;
    const scope = { tenant_id: query.tenant_id, session_id: query.session_id };
    const request_id = query.request_id === '' ? this.#parts.ids.next() : query.request_id;
    const threshold = query.threshold ?? this.#parts.loopWhenSimilarityAbove;
    const startedMs = this.#elapsedMs();
    const embedding = await embedder.embed(query.prompt, { timeoutMs });
    const embeddedMs = this.#elapsedMs();
    observer.embedded(embeddedMs - startedMs);
    if (embedding.fitness !== 'fit') return this.#unfit(embedding, threshold);
    await turn.comes;
    const turnMs = this.#elapsedMs();
    observer.queued(turnMs - embeddedMs);
    if (timeoutMs !== undefined && turnMs - startedMs >= timeoutMs)
      throw new SidecarFailure('timeout', 'the time was up before the comparison');
    const matches = await history.similar(scope, embedding.vector, request_id);
    observer.searched(this.#elapsedMs() - turnMs);
    const decision = decideLoop({
      matches,
      loopWhenSimilarityAbove: threshold,
      vetoOf: (earlier) => vetoOf(earlier, query.prompt),
    });
    remembered.done = this.#record(scope, { ...query, request_id }, embedding.vector);
    return { ...decision, threshold, fitness: 'fit', model_id: embedder.description.model_id };
  }

  #unfit({ fitness }: Embedding, threshold: LoopSimilarity): LoopAnswer {
    return {
      ...decideLoop({ matches: [], loopWhenSimilarityAbove: threshold, vetoOf: () => null }),
      threshold,
      fitness,
      model_id: this.#parts.embedder.description.model_id,
    };
  }

  /** Never rejects. */
  async #record(scope: PromptScope, { request_id, prompt }: LoopQuery, vector: Float32Array): Promise<void> {
    const { history, clock, observer } = this.#parts;
    const at_ms = clock.nowMs();
    // What is done in this turn of the event loop is done before the answer is written.
    await setImmediate();
    const startedMs = this.#elapsedMs();
    try {
      await history.record(scope, { request_id, prompt, vector, at_ms });
      observer.recorded(this.#elapsedMs() - startedMs);
    } catch (error) {
      observer.recordFailed(error);
    }
  }

  #countUnderWay(tenantId: string, change: 1 | -1): void {
    this.#underWayCount += change;
    const count = (this.#underWayByTenant.get(tenantId) ?? 0) + change;
    if (count > 0) this.#underWayByTenant.set(tenantId, count);
    else this.#underWayByTenant.delete(tenantId);
  }

  async #leave(tenantId: string, turn: Turn, remembered: Promise<void> | null): Promise<void> {
    await turn.comes;
    await remembered;
    turn.leave();
    this.#countUnderWay(tenantId, -1);
  }
}

/** What an agent is asked is no repetition of what another one of its session was asked. */
const scopeOf = ({ tenant_id, session_id, agent_id = '' }: LoopQuery): PromptScope => ({
  tenant_id,
  session_id: JSON.stringify([session_id, agent_id]),
});

/** A session may be nameless, as in the design's own messages: then it is the tenant's one session. */
function requireValid({ tenant_id, session_id, agent_id = '', request_id, threshold }: LoopQuery): void {
  const refuse = (message: string): never => {
    throw new SidecarFailure('invalid', message);
  };
  if (tenant_id === '') refuse('tenant_id is missing');
  for (const [name, id] of Object.entries({ tenant_id, session_id, agent_id, request_id }))
    if (id.length > ID_CHARS_MAX) refuse(`${name} has more than ${ID_CHARS_MAX} characters`);
  if (threshold !== null && !(threshold >= 0 && threshold <= 1)) refuse('threshold must be from 0 to 1');
}
