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
  /** 1 for the first loop of this session, and for the first after it was over for long: counting begins anew. */
  occurrence: z.number().int().min(1),
  action: z.enum(SEMANTIC_LOOP_ACTIONS),
  /** A hint went to the model with the call; absent from events of gateways that did not keep it. */
  is_hinted: z.boolean().optional(),
});
export type SemanticLoopEvent = z.infer<typeof semanticLoopEventSchema>;

/** Of two of one session: counting has gone on from the one to the other. Else the session was over its loop, and this is another. */
export const countsOn = (
  earlier: Pick<SemanticLoopEvent, 'occurrence'>,
  later: Pick<SemanticLoopEvent, 'occurrence'>,
): boolean => earlier.occurrence < later.occurrence;
