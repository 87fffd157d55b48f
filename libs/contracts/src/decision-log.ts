/**
 * The DecisionLog: what an agent meant, what it called, how it went. One schema for ingest, storage,
 * the live feed and the dashboard's types; the wire spelling (snake_case) is kept end to end.
 * Unknown members are dropped and named in the answer's `warnings`; null means absent.
 */
import { z } from 'zod';
import { LIMITS } from './limits.js';

const id = z.string().min(1).max(LIMITS.idCharsMax);
/**
 * Of a session or an agent: one that a URL can name, or no operator could reach it to stop it. Every client takes `.` and `..`,
 * escaped too, for steps in the path, and half a surrogate pair has no encoding.
 */
export const ADDRESSABLE_ID = /^(?!\.{1,2}$)\P{Surrogate}*$/u;
/** Of an agent: it is spoken of in lines, headers and notices too, so without what ends a line or turns it about. */
export const AGENT_ID = /^(?!\.{1,2}$)[^\p{Cc}\p{Bidi_Control}\p{Surrogate}]*$/u;
/** Of `AGENT_ID`, for whoever gave another. */
export const AGENT_ID_WORDS =
  'an id that a URL can name, so neither "." nor "..", without control characters and marks of direction';
/** `.max` takes a character of four bytes for one, paths and keys for two: with more of these no route would lead to the id. */
const fitsPath = z.check<string>(({ value, issues }) => {
  if (issues.length > 0 || value.length <= LIMITS.idCharsMax) return;
  issues.push({
    code: 'too_big',
    origin: 'string',
    maximum: LIMITS.idCharsMax,
    inclusive: true,
    input: value,
  });
});
const idText = z.string().max(LIMITS.idCharsMax).check(fitsPath);
const addressableText = idText.regex(ADDRESSABLE_ID, 'an id that a URL can name, so neither "." nor ".."');
const addressableId = addressableText.min(1);
const optionalId = z.string().max(LIMITS.idCharsMax).nullish();
const line = z.string().min(1).max(LIMITS.lineCharsMax);
const optionalLine = z.string().max(LIMITS.lineCharsMax).nullish();
const optionalText = z.string().max(LIMITS.textCharsMax).nullish();
const texts = z.array(z.string().max(LIMITS.textCharsMax)).max(LIMITS.listCountMax).nullish();
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?';
const ZONE = 'Z|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?';
/**
 * ISO 8601 with a date and a time of day, as the common languages write it: seconds and zone may be left out, an offset
 * may go without its colon or its minutes (`+0200` in Python, Java and Ruby).
 */
export const DATE_TIME = new RegExp(`${z.core.regexes.date.source.slice(0, -1)}T${TIME}(?:${ZONE})?$`);
const unitInterval = z.number().min(0).max(1).nullish();
const count = z.number().int().nonnegative().nullish();

export const ACTION_STATUSES = ['success', 'failure', 'pending', 'skipped'] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** `normal` >= 0.50 > `warning` >= 0.25 > `loop`, at the default thresholds. @see FR-9.4 to FR-9.6 */
export const SEVERITIES = ['normal', 'warning', 'loop'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const INTERRUPT_SIGNALS = ['pause', 'rewrite', 'inject'] as const;

const metaSchema = z.object({
  /** One per step. Resent unchanged it is the same step, stored once. */
  trace_id: addressableId,
  timestamp: z.string().regex(DATE_TIME, 'an ISO 8601 date and time'),
  session_id: addressableText.nullish(),
  /** null or "" = a root step. */
  parent_step_id: optionalId,
  cluster_id: optionalId,
  source_app: optionalId,
});

const identitySchema = z.object({
  agent_id: idText.regex(AGENT_ID, AGENT_ID_WORDS).min(1),
  agent_type: id,
  /** Semantic version text; a version never seen before is accepted and logged. */
  capability_version: id,
  model_name: optionalId,
});

const cognitionSchema = z.object({
  intent: line,
  reasoning_chain: texts,
  confidence_score: unitInterval,
  strategy_used: optionalLine,
  /** What an agent reports here is discarded: in everything that goes out it is the gateway's. @see FR-9.8 */
  entropy_score: unitInterval,
  /** Written by the gateway only. */
  entropy_severity: z.enum(SEVERITIES).nullish(),
});

const actionSchema = z.object({
  status: z.enum(ACTION_STATUSES),
  tool_call: optionalLine,
  /** An object, or JSON as text. */
  tool_input: z.union([z.record(z.string(), z.unknown()), z.string().max(LIMITS.textCharsMax)]).nullish(),
  tool_output_summary: optionalText,
  duration_ms: z.number().nonnegative().nullish(),
});

const stateDeltaSchema = z.object({
  added_to_memory: texts,
  tokens_consumed: count,
  /** USD since the session began. */
  cumulative_session_cost: z.number().nonnegative().nullish(),
});

const controlSchema = z.object({
  /** The agent asks for a person: its session pauses before this step is published. */
  hitl_required: z.boolean().nullish(),
  interrupt_signal: z.enum(INTERRUPT_SIGNALS).nullish(),
  /** Last step of its session. */
  is_terminal: z.boolean().nullish(),
});

export const decisionLogSchema = z.object({
  meta: metaSchema,
  identity: identitySchema,
  cognition: cognitionSchema,
  action: actionSchema,
  state_delta: stateDeltaSchema.nullish(),
  control: controlSchema.nullish(),
});

export type DecisionLog = z.infer<typeof decisionLogSchema>;

/** What the gateway knows about a stored step beyond the agent's own words. */
export const stepEnvelopeSchema = z.object({
  /** Position in the store: unique, ascending in the order of commit. */
  seq: z.number().int(),
  session_id: z.string(),
  received_at_ms: z.number().int(),
  /** Tuples in the entropy window when this step was scored, itself included. */
  window_size: z.number().int(),
  /** Stored, but not yet published: its session was paused. */
  held: z.boolean(),
  /** Set once an operator replaced the held step's `tool_input`. */
  rewritten_by: z.string().nullable(),
});

/** A DecisionLog as it goes out: the gateway's score in `cognition`, the envelope in `gateway`. */
export const stepViewSchema = decisionLogSchema.extend({ gateway: stepEnvelopeSchema });
export type StepView = z.infer<typeof stepViewSchema>;

/** @see FR-9.2: the unit of repetition. `tool_call` is "" for a step without a tool. */
export interface EntropyTuple {
  readonly intent: string;
  readonly tool_call: string;
  readonly action_status: ActionStatus;
}

export const entropyTupleSchema = z.object({
  intent: z.string(),
  tool_call: z.string(),
  action_status: z.enum(ACTION_STATUSES),
});

/** The schema violation as published: exactly these members, never the payload itself. */
export const violationEventSchema = z.strictObject({
  event_type: z.literal('schema_violation'),
  timestamp: z.iso.datetime(),
  agent_id: z.string(),
  capability_version: z.string(),
  violation_reason: z.string(),
  raw_payload_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});
export type ViolationEvent = z.infer<typeof violationEventSchema>;

/** @see FR-9.7. `at_ms` and what follows it is ours, beyond the requirement. */
export const entropyAlertEventSchema = z.object({
  event_type: z.literal('entropy_alert'),
  session_id: z.string(),
  agent_id: z.string(),
  entropy_score: z.number(),
  window_size: z.number().int(),
  repeated_pattern: entropyTupleSchema,
  occurrence_count: z.number().int(),
  at_ms: z.number().int(),
  /** How many alerts its loop has raised with this one. An alert that an earlier version has stored does not say. */
  alert_count: z.number().int().optional(),
  /** When the first of these was: a session that loops anew, after a loop that was over, begins anew. */
  first_at_ms: z.number().int().optional(),
});
export type EntropyAlertEvent = z.infer<typeof entropyAlertEventSchema>;
/** As it is told. */
export type RaisedAlert = Required<EntropyAlertEvent>;

/**
 * Alerts of one session folded into one row: in the Entropy Alerts panel those of the loop that goes on, for the session
 * itself all that it ever raised. @see FR-9.10
 */
export const alertGroupSchema = z.object({
  session_id: z.string(),
  agent_id: z.string(),
  alert_count: z.number().int(),
  first_at_ms: z.number().int(),
  last_at_ms: z.number().int(),
  latest: entropyAlertEventSchema,
});
export type AlertGroup = z.infer<typeof alertGroupSchema>;
