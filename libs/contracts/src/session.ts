/** A session as the list shows it: a fold over its steps, small enough to keep ten thousand. */
import { z } from 'zod';
import {
  ACTION_STATUSES,
  alertGroupSchema,
  entropyTupleSchema,
  SEVERITIES,
  stepViewSchema,
} from './decision-log.js';
import { auditEntrySchema, controlViewSchema, directiveSchema } from './hitl.js';
import { CALL_DECISIONS } from './llm-call.js';
import { semanticLoopEventSchema } from './semantic-loop.js';
import { NODE_STATES } from './topology.js';

export const sessionViewSchema = z.object({
  session_id: z.string(),
  /** Agent of the latest step. */
  agent_id: z.string(),
  agent_type: z.string(),
  model_name: z.string(),
  cluster_id: z.string(),
  source_app: z.string(),
  /** Turns `idle` after a minute without a step, after ten where it loops or repeats itself; `severity` stays. */
  state: z.enum(NODE_STATES),
  severity: z.enum(SEVERITIES),
  entropy_score: z.number(),
  /** Oldest first, `entropy_window_size` at most (five): the dots. Texts cut at 120 characters. */
  window: z.array(entropyTupleSchema),
  last_intent: z.string(),
  last_tool: z.string(),
  last_status: z.enum(ACTION_STATUSES),
  last_trace_id: z.string(),
  step_count: z.number().int(),
  failure_count: z.number().int(),
  /** Steps received in the 60 s before `last_seen_ms`. */
  steps_per_minute: z.number(),
  /** Known costs only. */
  cost_usd: z.number(),
  /** Some of its steps, or all, cost what nobody told or what no price tells: not zero, and not in `cost_usd`. */
  cost_unknown: z.boolean(),
  tokens: z.number().int(),
  started_ms: z.number().int(),
  last_seen_ms: z.number().int(),
  /** Why its latest proxied call was refused, and when; null where it was not, or none was made. */
  refused_call: z.object({ decision: z.enum(CALL_DECISIONS), at_ms: z.number().int() }).nullable(),
  /** It sent `is_terminal` and has been in no loop since, or was terminated. */
  ended: z.boolean(),
  control: controlViewSchema,
});
export type SessionView = z.infer<typeof sessionViewSchema>;

/** `GET /v1/sessions/{id}`: the row, and the alerts it raised; null for none. */
export const sessionAnswerSchema = sessionViewSchema.extend({ alert: alertGroupSchema.nullable() });
export type SessionAnswer = z.infer<typeof sessionAnswerSchema>;

/** The snapshot of `session:{id}`. */
const sessionDetailSchema = z.object({
  session: sessionViewSchema,
  /** What `entropy_score` is of, oldest first: steps that are held come in once they are released. */
  window: z.array(entropyTupleSchema),
  /** Null when this session never raised an entropy alert. */
  alert: alertGroupSchema.nullable(),
  /** Newest last; the latest 200. */
  steps: z.array(stepViewSchema),
  /** In the order in which they will be flushed; the oldest 200 of `session.control.held_count`. */
  held: z.array(stepViewSchema),
  directives: z.array(directiveSchema),
  /** Newest last. */
  audit: z.array(auditEntrySchema),
  /** Newest last; the latest 50. */
  semantic_loops: z.array(semanticLoopEventSchema),
});
export type SessionDetail = z.infer<typeof sessionDetailSchema>;

/** What `session:{id}` sends after its snapshot. Each replaces or appends to one part of SessionDetail. */
const sessionEventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('step'), step: stepViewSchema, window: z.array(entropyTupleSchema) }),
  z.object({ kind: z.literal('held'), step: stepViewSchema }),
  z.object({ kind: z.literal('released'), trace_ids: z.array(z.string()) }),
  z.object({ kind: z.literal('rewritten'), step: stepViewSchema }),
  z.object({ kind: z.literal('alert'), alert: alertGroupSchema }),
  z.object({ kind: z.literal('semantic_loop'), event: semanticLoopEventSchema }),
  z.object({ kind: z.literal('control'), control: controlViewSchema, directives: z.array(directiveSchema) }),
  z.object({ kind: z.literal('audit'), entry: auditEntrySchema }),
  z.object({ kind: z.literal('session'), session: sessionViewSchema }),
  /** Retention has deleted it. A later event is of a session that began anew under its name. */
  z.object({ kind: z.literal('deleted') }),
]);
export type SessionEvent = z.infer<typeof sessionEventSchema>;
