/**
 * What was told to a model beside what its client says, under the signature of what it thought of that: as long as the client brings
 * these thoughts back, the words go along where they stood, or the vendor refuses the request.
 */
import { createHash } from 'node:crypto';
import type { AgentScope } from '#contracts';
import type { ToldWords as Told } from '#domain/llm-dialects';
import { DAY_MS } from '#kernel';
import { type AnswerStoreParts, StoredAnswers } from '../calls/stored-answers.js';

/** Answers to a call with words of ours, over all tenants. */
const ANSWER_COUNT_MAX = 5_000;
/** A conversation that rests for longer is told nothing again, and its vendor may refuse it. */
const IDLE_MS = 30 * DAY_MS;

export class ToldWords {
  readonly #answers: StoredAnswers<Told>;

  constructor(parts: AnswerStoreParts) {
    this.#answers = new StoredAnswers(parts, {
      kind: 'told_words',
      countMax: ANSWER_COUNT_MAX,
      idleMs: IDLE_MS,
    });
  }

  /** Before the first call. Rejects as the store does. */
  load(): Promise<void> {
    return this.#answers.load();
  }

  /** After the last call. Never rejects. */
  stop(): Promise<void> {
    return this.#answers.stop();
  }

  /** So that a call need not be looked through for thoughts. */
  get isEmpty(): boolean {
    return this.#answers.count === 0;
  }

  note(agent: AgentScope, signature: string, told: Told): void {
    this.#answers.note(agent, digestOf(signature), told);
  }

  /** Null: nothing was told then, or it was forgotten. */
  find(agent: AgentScope, signature: string): Told | null {
    return this.#answers.find(agent, digestOf(signature));
  }
}

/** Signatures are long. */
const digestOf = (signature: string): string => createHash('sha256').update(signature).digest('base64url');
