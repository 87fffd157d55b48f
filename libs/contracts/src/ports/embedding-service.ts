/** What the gateway asks of the embedding sidecar. Every call may fail: the caller goes on without an answer. */
import type { LoopSimilarity } from '../similarity.js';
import type { EmbedderDescription, Embedding, Fitness } from './embedder.js';

export interface LoopQuery {
  tenant_id: string;
  session_id: string;
  /** Whose prompt it is; absent: the session has one agent. */
  agent_id?: string;
  /** Of the call; its own retries carry the first one's. */
  request_id: string;
  prompt: string;
  /** Null: the sidecar's own. */
  threshold: LoopSimilarity | null;
}

/** An earlier prompt that makes a prompt a loop. */
export interface Repeated {
  prompt: string;
  request_id: string;
}

export interface LoopAnswer {
  loop_detected: boolean;
  max_similarity: LoopSimilarity;
  threshold: LoopSimilarity;
  similar_prompt: string;
  similar_request_id: string;
  compared_count: number;
  similar_count: number;
  fitness: Fitness;
  /** Null: nothing was vetoed. */
  vetoed_by: string | null;
  model_id: string;
  /** The others that make it a loop, nearest first: whoever asks may know that the one that is named does not count. */
  further: readonly Repeated[];
}

export interface SidecarDescription extends EmbedderDescription {
  loop_similarity_threshold: LoopSimilarity;
  store: 'memory' | 'redis';
  /** Public text: why checks fail though vectors are given. Null: the store serves, as far as is known. */
  store_problem: string | null;
  history_size: number;
  ttl_s: number;
  checks_total: number;
  loops_total: number;
  failures_total: number;
  queued: number;
  uptime_s: number;
}

export const SIDECAR_FAILURES = ['unavailable', 'timeout', 'busy', 'invalid', 'error'] as const;
export type SidecarFailureReason = (typeof SIDECAR_FAILURES)[number];

/** Never holds a prompt. */
export class SidecarFailure extends Error {
  override readonly name = 'SidecarFailure';

  constructor(
    readonly reason: SidecarFailureReason,
    message: string,
  ) {
    super(message);
  }
}

export interface SidecarCallOptions {
  timeoutMs: number;
  /** W3C traceparent of the call this is part of. */
  traceParent: string | null;
}

export interface EmbeddingService {
  /** Connected, and what answers is a sidecar. Its store may be away: its description says so, and checks fail. */
  readonly isReady: boolean;
  /** @throws SidecarFailure */
  checkLoop(query: LoopQuery, options: SidecarCallOptions): Promise<LoopAnswer>;
  /** Vectors are of `description().model_id`. @throws SidecarFailure */
  embed(text: string, options: SidecarCallOptions): Promise<Embedding & { model_id: string }>;
  /** Asks now. @throws SidecarFailure */
  describe(options: SidecarCallOptions): Promise<SidecarDescription>;
  close(): Promise<void>;
}
