/** The semantic loop: the same thing asked again in other words. It hints; what follows is the agent's policy. */
import { z } from 'zod';

/**
 * How far the ladder goes within one session: the first loop hints, a second alerts, a third pauses.
 * `off`: prompts are not even embedded.
 */
export const SEMANTIC_LOOP_POLICIES = ['off', 'hint', 'alert', 'pause'] as const;
export type SemanticLoopPolicy = (typeof SEMANTIC_LOOP_POLICIES)[number];
export const SEMANTIC_LOOP_POLICY_DEFAULT: SemanticLoopPolicy = 'alert';

/** What was done about one loop. Each includes the ones before it, but for the hint where the request had no place for one. */
export const SEMANTIC_LOOP_ACTIONS = ['noted', 'hinted', 'alerted', 'paused'] as const;
export type SemanticLoopAction = (typeof SEMANTIC_LOOP_ACTIONS)[number];

/** The words of the hint, unless `LOOP_INTERVENTION_MESSAGE` says otherwise. */
export const LOOP_INTERVENTION_DEFAULT =
  'You seem to be repeating similar requests. Please take a different approach or consider that the previous attempts may have already addressed your question.';

export const SEMANTIC_LOOP_PROMPT_CHARS_MAX = 1_000;

/** A session that asked nothing again for this long is over its loop, unless it is stopped. */
export const SEMANTIC_ALERT_OVER_AFTER_MS = 10 * 60_000;

export const semanticLoopEventSchema = z.object({
  event_type: z.literal('semantic_loop'),
  event_id: z.string(),
  /** Ascends; 0 until stored. */
  seq: z.number().int(),
  agent_id: z.string(),
  session_id: z.string(),
  call_id: z.string(),
  at_ms: z.number(),
  /** 1 - cosine_distance / 2, 0..1. */
  similarity: z.number(),
  /** Exclusive, on the same scale. */
  threshold: z.number(),
  model_id: z.string(),
  /** Both redacted and cut at 1,000 characters. */
  prompt: z.string(),
  similar_prompt: z.string(),
  /** Call that brought the similar prompt. */
  similar_call_id: z.string(),
  /** 1 for the first loop of this session. */
  occurrence: z.number().int().min(1),
  action: z.enum(SEMANTIC_LOOP_ACTIONS),
  /** A hint went to the model with the call; absent from events of gateways that did not keep it. */
  is_hinted: z.boolean().optional(),
});
export type SemanticLoopEvent = z.infer<typeof semanticLoopEventSchema>;

/**
 * Why the limiter let a call go on uncounted. `timeout`: Redis did not answer in time. `disconnected`: there was no connection.
 * `busy`: too many answers were awaited. `reply`: Redis answered with an error. `error`: anything else.
 */
export const LIMITER_FAILURES = ['timeout', 'disconnected', 'busy', 'reply', 'error'] as const;
export type LimiterFailure = (typeof LIMITER_FAILURES)[number];

/** `GET /v1/system`: the parts this gateway leans on. */
export const systemViewSchema = z.object({
  at_ms: z.number(),
  uptime_s: z.number(),
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
  redis: z.object({ configured: z.boolean(), connected: z.boolean() }),
});
export type SystemView = z.infer<typeof systemViewSchema>;
