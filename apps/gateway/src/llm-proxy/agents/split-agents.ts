/**
 * Agents whose calls reach another gateway too, of those that share one Redis. Windows and sessions belong to one gateway: of an
 * agent that a balancer sends to two of them in turns each sees every other call, and notices a loop late.
 *
 * One move from gateway to gateway is a deployment; several within a short time are a balancer that takes turns.
 */
import { type AgentHomes, type AgentScope, tenantIdOf } from '#contracts';
import { FairLru, MINUTE_MS, type SteadyClock } from '#kernel';

const LOOK_INTERVAL_MS = 5_000;
const MOVES_MIN = 2;
/** Two moves that lie further apart have nothing to do with each other; one that is split is so until it has stayed for as long. */
const MOVES_WITHIN_MS = 5 * MINUTE_MS;
/** Agents asked about at a look, over all tenants; those beyond them are at a later one. */
const LOOK_COUNT_MAX = 1_000;
/** Agents that have moved lately, over all tenants. */
const MOVED_COUNT_MAX = 10_000;

export interface SplitAgentsParts {
  /** Null: no other gateway is known of, and none is split. */
  homes: AgentHomes | null;
  clock: SteadyClock;
  onChanged: (scope: AgentScope, isSplit: boolean) => void;
}

export class SplitAgents {
  readonly #parts: SplitAgentsParts;
  /** Have called since the last look. */
  readonly #called: FairLru<AgentScope, true>;
  /** How often each has come here from another gateway. */
  readonly #moves: FairLru<AgentScope, number>;
  #isAsking = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SplitAgentsParts) {
    this.#parts = parts;
    this.#called = new FairLru({
      countMax: LOOK_COUNT_MAX,
      idleMs: Number.POSITIVE_INFINITY,
      clock: parts.clock,
    });
    this.#moves = new FairLru({
      countMax: MOVED_COUNT_MAX,
      idleMs: MOVES_WITHIN_MS,
      clock: parts.clock,
      onEvict: (scope, count) => {
        if (count >= MOVES_MIN) parts.onChanged(scope, false);
      },
    });
  }

  /** O(agents that moved lately). */
  get count(): number {
    let count = 0;
    for (const [, moves] of this.#moves.entries()) if (moves >= MOVES_MIN) count += 1;
    return count;
  }

  start(): void {
    if (this.#parts.homes !== null)
      this.#timer = setInterval(() => void this.look(), LOOK_INTERVAL_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Of every call. */
  noteCall(scope: AgentScope): void {
    if (this.#parts.homes !== null) this.#called.set(tenantIdOf(scope), scope, true);
  }

  isSplit(scope: AgentScope): boolean {
    return (this.#moves.peek(tenantIdOf(scope), scope) ?? 0) >= MOVES_MIN;
  }

  /** Never rejects: that Redis is away is the limiter's to tell. One question at a time, so that one that hangs is asked no more. */
  async look(): Promise<void> {
    this.#moves.evictIdle();
    const { homes } = this.#parts;
    if (homes === null || this.#isAsking || this.#called.size === 0) return;
    const scopes = [...this.#called.entries()].map(([scope]) => scope);
    this.#called.clear();
    this.#isAsking = true;
    const hasMoved = await homes.claim(scopes);
    this.#isAsking = false;
    for (const [at, scope] of scopes.entries()) if (hasMoved[at]) this.#noteMove(scope);
  }

  #noteMove(scope: AgentScope): void {
    const tenantId = tenantIdOf(scope);
    const count = (this.#moves.get(tenantId, scope) ?? 0) + 1;
    this.#moves.set(tenantId, scope, count);
    if (count === MOVES_MIN) this.#parts.onChanged(scope, true);
  }
}
