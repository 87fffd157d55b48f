/** Answers of `POST /v1/decision-logs` and of the `decision_log` event on `/agents`. */
import { z } from 'zod';
import { SEVERITIES } from './decision-log.js';
import { agentControlSchema } from './hitl.js';

export const acceptedAnswerSchema = z.object({
  status: z.literal('accepted'),
  trace_id: z.string(),
  session_id: z.string(),
  entropy: z.object({ score: z.number(), severity: z.enum(SEVERITIES), window_size: z.number().int() }),
  control: agentControlSchema,
  /** Unknown members that were ignored, a reused trace_id. */
  warnings: z.array(z.string()).optional(),
});
export type AcceptedAnswer = z.infer<typeof acceptedAnswerSchema>;

/** `agent_refused`: the key may not speak for this agent. */
export const REJECTED_REASONS = ['schema_violation', 'invalid_json', 'agent_refused'] as const;

export const rejectedAnswerSchema = z.object({
  status: z.literal('rejected'),
  reason: z.enum(REJECTED_REASONS),
  /** Names the field and what is expected. */
  detail: z.string(),
  /** Null if the message carries none. */
  trace_id: z.string().nullable(),
});
export type RejectedAnswer = z.infer<typeof rejectedAnswerSchema>;

export type IngestAnswer = AcceptedAnswer | RejectedAnswer;

export const batchAnswerSchema = z.object({
  /** In the order of the request. */
  results: z.array(z.union([acceptedAnswerSchema, rejectedAnswerSchema])),
});
