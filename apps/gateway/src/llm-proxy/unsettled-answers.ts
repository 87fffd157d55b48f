/**
 * What was counted for answers whose end nobody saw, though their vendor keeps them: one that is worked on in the background, a stream
 * that its client left. Whoever fetches such an answer later is told what it took; that is put in the estimate's place, once.
 */
import { type AgentScope, splitAgentScope } from '#contracts';
import { type Clock, FairLru } from '#kernel';
import type { TakenLimits } from './taken-limits.js';

/** Over all tenants; the one that has most gives way, and its estimate stands. */
export const ANSWER_COUNT_MAX = 20_000;
/** Vendors work on an answer for hours at most. */
const ANSWER_IDLE_MS = 24 * 3_600_000;
/** Several times what a vendor's id takes; what is longer is not remembered. */
const ID_CHARS_MAX = 256;

export interface UnsettledAnswer {
  /** As it was asked for. */
  model: string | null;
  /** When it was asked for, epoch ms: what it turns out to cost was spent then. */
  startedAtMs: number;
  /** What stands in the record and, with `tokens`, in what was taken. Null: unknown. */
  costMicroUsd: number | null;
  /** Of the policy's limits, and what is left taken of them; null: nothing. */
  taken: TakenLimits | null;
}

export class UnsettledAnswers {
  /** By agent and answer. */
  readonly #answers: FairLru<string, UnsettledAnswer>;

  constructor(clock: Clock) {
    this.#answers = new FairLru({ countMax: ANSWER_COUNT_MAX, idleMs: ANSWER_IDLE_MS, clock });
  }

  note(agent: AgentScope, answerId: string, answer: UnsettledAnswer): void {
    if (answerId.length <= ID_CHARS_MAX) this.#answers.set(tenantOf(agent), keyOf(agent, answerId), answer);
  }

  /** Null: of an answer that nobody saw here, that is settled, or that was forgotten. */
  find(agent: AgentScope, answerId: string): UnsettledAnswer | null {
    return this.#answers.peek(tenantOf(agent), keyOf(agent, answerId)) ?? null;
  }

  /** @returns false: somebody else was faster */
  settle(agent: AgentScope, answerId: string): boolean {
    return this.#answers.delete(tenantOf(agent), keyOf(agent, answerId));
  }
}

const tenantOf = (agent: AgentScope): string => splitAgentScope(agent).tenantId;
const keyOf = (agent: AgentScope, answerId: string): string => `${agent}\0${answerId}`;
