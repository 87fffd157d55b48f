/**
 * Which session an answer belongs to that its vendor keeps: a later call that goes on from it (`previous_response_id`) brings
 * no more than its newest turn, and would be taken for another conversation, which no pause of this one holds.
 */
import { type AgentScope, splitAgentScope } from '#contracts';
import { type Clock, FairLru } from '#kernel';

/** Over all tenants; the one that has most gives way. */
export const ANSWER_COUNT_MAX = 50_000;
/** Then the call that goes on begins a session of its own. */
const ANSWER_IDLE_MS = 24 * 3_600_000;
/** Several times what a vendor's id takes; what is longer is not remembered. */
const ID_CHARS_MAX = 256;
/** Prompts of one conversation, the latest: several times those that a history keeps unless told otherwise. */
const ASKED_COUNT_MAX = 16;

/** What a call goes on from. */
export interface ContinuedSession {
  sessionId: string;
  /** Digests of what the semantic loop looked at on the way there, oldest first. */
  asked: readonly string[];
}

export class ContinuedSessions {
  /** By agent and answer: who names another agent's answer is not in its session. */
  readonly #sessions: FairLru<string, ContinuedSession>;

  constructor(clock: Clock) {
    this.#sessions = new FairLru({ countMax: ANSWER_COUNT_MAX, idleMs: ANSWER_IDLE_MS, clock });
  }

  note(agent: AgentScope, answerId: string, { sessionId, asked }: ContinuedSession): void {
    if (answerId.length > ID_CHARS_MAX) return;
    const session = { sessionId, asked: asked.slice(-ASKED_COUNT_MAX) };
    this.#sessions.set(splitAgentScope(agent).tenantId, `${agent}\0${answerId}`, session);
  }

  /** Null: of an answer that nobody saw here, or that was forgotten. */
  find(agent: AgentScope, answerId: string): ContinuedSession | null {
    return this.#sessions.get(splitAgentScope(agent).tenantId, `${agent}\0${answerId}`) ?? null;
  }
}
