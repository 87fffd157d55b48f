/**
 * The last few prompts of each session, for the semantic loop. Bounded per scope (`countMax`) and in time (`ttlMs`); a
 * tenant's or session's id may hold any characters and never reaches another's prompts.
 */
import type { Cosine } from '../similarity.js';

export interface PromptScope {
  tenant_id: string;
  session_id: string;
}

export interface PromptEntry {
  request_id: string;
  prompt: string;
  /** Unit length, of the history's model. */
  vector: Float32Array;
  at_ms: number;
}

export interface PromptMatch {
  request_id: string;
  prompt: string;
  at_ms: number;
  cosine: Cosine;
}

const PROMPT_HISTORY_FAILURES = ['unavailable', 'no_query_engine', 'failed'] as const;

/** Public text; never holds a prompt or a credential. */
export class PromptHistoryFailure extends Error {
  override readonly name = 'PromptHistoryFailure';

  constructor(
    readonly reason: (typeof PROMPT_HISTORY_FAILURES)[number],
    message: string,
  ) {
    super(message);
  }
}

export interface PromptHistory {
  readonly kind: 'memory' | 'redis';
  /** Connects and makes what is missing. @throws PromptHistoryFailure, `no_query_engine` for a plain Redis */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Rejects while it cannot serve. */
  probe(): Promise<void>;
  /** Earlier prompts of this scope, nearest first, all that are kept. One under `request_id` itself is left out. */
  similar(scope: PromptScope, vector: Float32Array, requestId: string): Promise<PromptMatch[]>;
  /** Remembers and prunes in one step. The same request id again replaces its entry. */
  record(scope: PromptScope, entry: PromptEntry): Promise<void>;
}
