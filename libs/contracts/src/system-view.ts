/** `GET /v1/system`: what this gateway leans on, and what it did without. */
import { z } from 'zod';

/**
 * Why the limiter let a call go on uncounted. `timeout`: Redis did not answer in time. `disconnected`: there was no connection.
 * `busy`: too many answers were awaited. `reply`: Redis answered with an error. `error`: anything else.
 */
export const LIMITER_FAILURES = ['timeout', 'disconnected', 'busy', 'reply', 'error'] as const;
export type LimiterFailure = (typeof LIMITER_FAILURES)[number];

/**
 * Whether an upstream takes calls, by those of this tenant that this gateway sent there. It fails a call that it does not answer, and one
 * that it answers with 401, 402, 403, 408, 429 or 5xx; any other error is an answer.
 */
export const upstreamHealthSchema = z.object({
  name: z.string(),
  /**
   * `failing`: it failed the latest three calls or more, or eight of the latest ten. One agent whose own key is refused (401, 402, 403,
   * 429), while others are answered, does not count for that. `faltering`: of the last five minutes' it failed three or more, and a tenth,
   * or three calls wait and it has answered none since the first of them was sent.
   * `idle`: there were none in the last five minutes.
   */
  state: z.enum(['idle', 'serving', 'faltering', 'failing']),
  /** Calls of the last five minutes that ended, to 10 s. */
  call_count: z.number().int(),
  failed_count: z.number().int(),
  /** Agents with such a failed call; counted up to 1,000. */
  failed_agent_count: z.number().int(),
  /** The agent where it is one alone. */
  failed_agent_id: z.string().nullable(),
  /** Calls that have been there for 30 s or longer, and of whose answer nothing has come. */
  waiting_count: z.number().int(),
  /** When the first of these was sent; null: there is none. */
  waiting_since_ms: z.number().nullable(),
  /** First of the calls that it failed since it last answered one or, while it fails, since it did not; null: it answered the latest. */
  failing_since_ms: z.number().nullable(),
  /** Null: none since the start of this gateway. */
  answered_at_ms: z.number().nullable(),
  last_failure: z
    .object({
      at_ms: z.number(),
      /** As the client got it; 499 of one that left. */
      status: z.number().int(),
      detail: z.string().nullable(),
    })
    .nullable(),
});
export type UpstreamHealth = z.infer<typeof upstreamHealthSchema>;

export const systemViewSchema = z.object({
  at_ms: z.number(),
  uptime_s: z.number(),
  /** Why `/readyz` says that this gateway should be sent no traffic, as it says it there; empty: it is ready. */
  not_ready: z.array(z.string()),
  /** Where the links of alerts lead; null: they have none, since OBSERVATORY_PUBLIC_URL is not set. */
  public_url: z.string().nullable(),
  sidecar: z.object({
    /** `off`: LOOP_DETECTION_ENABLED is false and the cache needs none. `down`: calls go on without it. */
    state: z.enum(['off', 'starting', 'serving', 'down']),
    /** This gateway started it and starts it again. */
    is_supervised: z.boolean(),
    restart_count: z.number().int(),
    since_ms: z.number().nullable(),
    /** Public reason of the last failure; null while it serves. */
    detail: z.string().nullable(),
    model_id: z.string().nullable(),
    dimension: z.number().nullable(),
    store: z.enum(['memory', 'redis']).nullable(),
    /** Public: why its store of prompts fails, so that checks fail open though it serves. Null while it does not, or is not known. */
    store_problem: z.string().nullable(),
    loop_similarity_threshold: z.number().nullable(),
    queued: z.number().nullable(),
  }),
  semantic_loop: z.object({
    /** Since the start of this gateway. */
    checks: z.record(z.string(), z.number()),
    fail_open: z.record(z.string(), z.number()),
    /** Of calls to the sidecar, over the last five minutes; null without any. */
    p50_ms: z.number().nullable(),
    p99_ms: z.number().nullable(),
    /** Upper bound in ms (the last is null, no bound) and count, since the start. */
    latency: z.array(z.object({ below_ms: z.number().nullable(), count: z.number() })),
    timeout_ms: z.number(),
  }),
  /** Sites that failed open since the start, by name. */
  fail_open: z.record(z.string(), z.number()),
  /** Of these the limiter's, by what was wrong; those that did not occur are absent. */
  limiter_fail_open: z.partialRecord(z.enum(LIMITER_FAILURES), z.number()),
  redis: z.object({
    configured: z.boolean(),
    connected: z.boolean(),
    /** When this gateway began to miss it; null: it does not. */
    away_since_ms: z.number().nullable(),
  }),
  /** Those that calls went to since the start of this gateway, by name. */
  upstreams: z.array(upstreamHealthSchema),
});
export type SystemView = z.infer<typeof systemViewSchema>;
