/**
 * Which session an answer belongs to that its vendor keeps: a later call that goes on from it (`previous_response_id`) brings
 * no more than its newest turn, and would be taken for another conversation, which no pause or end of this one holds.
 */
import type { AgentScope } from '#contracts';
import { HOUR_MS } from '#kernel';
import { type AnswerStoreParts, StoredAnswers } from '../calls/stored-answers.js';

/** Over all tenants. */
export const ANSWER_COUNT_MAX = 50_000;
/** Then the call that goes on begins a session of its own. */
const ANSWER_IDLE_MS = 24 * HOUR_MS;
/** Prompts of one conversation, the latest: several times those that a history keeps unless told otherwise. */
const ASKED_COUNT_MAX = 16;

/** What a call goes on from. */
export interface ContinuedSession {
  sessionId: string;
  /** Digests of what the semantic loop looked at on the way there, oldest first. */
  asked: readonly string[];
}

export class ContinuedSessions extends StoredAnswers<ContinuedSession> {
  constructor(parts: AnswerStoreParts) {
    super(parts, { kind: 'continued_answer', countMax: ANSWER_COUNT_MAX, idleMs: ANSWER_IDLE_MS });
  }

  override note(agent: AgentScope, answerId: string, { sessionId, asked }: ContinuedSession): void {
    super.note(agent, answerId, { sessionId, asked: asked.slice(-ASKED_COUNT_MAX) });
  }
}
