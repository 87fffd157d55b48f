/**
 * Human in the loop: the commands an operator gives, the states a session passes, what an agent is told.
 *
 *     active -> pause_requested -> paused (acknowledged) -> active | terminated | expired
 *
 * `expired` lasts until the policy has run: it ends in `active` or `terminated`.
 */
import { z } from 'zod';
import { LIMITS } from './limits.js';

export const CONTROL_STATES = ['active', 'pause_requested', 'paused', 'expired', 'terminated'] as const;
export type ControlState = (typeof CONTROL_STATES)[number];

/** An operator paused it: it stops, or its messages alone are held. */
export const isStoppedState = (state: ControlState): boolean =>
  state === 'pause_requested' || state === 'paused' || state === 'expired';

/**
 * Which control an agent really obeys. `enforced`: its LLM calls go through the proxy. `cooperative`:
 * its client polls, acknowledges or holds a socket. `observe_only`: it has done none of these.
 * The one that holds most stands first.
 */
export const CONTROL_MODES = ['enforced', 'cooperative', 'observe_only'] as const;
export type ControlMode = (typeof CONTROL_MODES)[number];

export const COMMANDS = ['pause', 'resume', 'inject', 'rewrite', 'terminate'] as const;
export type Command = (typeof COMMANDS)[number];

const reason = z.string().min(1).max(LIMITS.lineCharsMax);

export const commandBodySchemas = {
  pause: z.strictObject({ reason }),
  /** Nobody has to say why an agent goes on. */
  resume: z.strictObject({ reason: reason.optional() }),
  inject: z.strictObject({ prompt: z.string().min(1).max(LIMITS.textCharsMax) }),
  rewrite: z.strictObject({
    trace_id: z.string().min(1).max(LIMITS.idCharsMax),
    /** Replaces `action.tool_input` of the held step. */
    new_content: z.union([z.string().min(1).max(LIMITS.textCharsMax), z.record(z.string(), z.unknown())]),
  }),
  terminate: z.strictObject({ reason }),
} as const;

/** An agent's acknowledgement: everything up to a seq, or just those directives. */
export const ackBodySchemas = {
  seq: z.strictObject({
    seq: z.number().int().nonnegative().describe('Everything up to this seq was obeyed.'),
  }),
  directiveIds: z.strictObject({
    directive_ids: z
      .array(z.string().max(LIMITS.idCharsMax))
      .min(1)
      .max(LIMITS.directivesPerSessionMax)
      .describe('Just these were obeyed.'),
  }),
} as const;

export const ackAnswerSchema = z.object({
  status: z.literal('ok'),
  /** Present when nothing changed: what was named was confirmed before, or never given. */
  note: z.literal('nothing_waiting').optional(),
});
export type AckAnswer = z.infer<typeof ackAnswerSchema>;

export type HitlCommand =
  | { readonly command: 'pause'; readonly reason: string }
  | { readonly command: 'resume'; readonly reason?: string | undefined }
  | { readonly command: 'inject'; readonly prompt: string }
  | {
      readonly command: 'rewrite';
      readonly trace_id: string;
      readonly new_content: string | Record<string, unknown>;
    }
  | { readonly command: 'terminate'; readonly reason: string };

export const commandAnswerSchema = z.object({
  status: z.literal('ok'),
  /** Present when nothing changed. */
  note: z.enum(['already_paused', 'not_paused', 'already_terminated']).optional(),
  /** On resume: held messages published, in order. */
  flushed_count: z.number().int().optional(),
});
export type CommandAnswer = z.infer<typeof commandAnswerSchema>;

/** One instruction to the agent. Delivered at least once: tell repeats by `directive_id`. */
export const directiveSchema = z.object({
  directive_id: z.string(),
  /** Ascending within a session; a poll's `cursor` is the last one seen. */
  seq: z.number().int(),
  type: z.enum(COMMANDS),
  issued_at_ms: z.number().int(),
  operator_id: z.string(),
  reason: z.string().optional(),
  prompt: z.string().optional(),
  trace_id: z.string().optional(),
  new_content: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});
export type Directive = z.infer<typeof directiveSchema>;

/** What the agent sees of a state: a requested pause is a pause to it. */
export const AGENT_CONTROL_STATES = ['active', 'paused', 'terminated'] as const;
export type AgentControlState = (typeof AGENT_CONTROL_STATES)[number];

/** In the ingest answer, the control poll and the pushed `control` event. */
export const agentControlSchema = z.object({
  state: z.enum(AGENT_CONTROL_STATES),
  directives: z.array(directiveSchema),
});
export type AgentControl = z.infer<typeof agentControlSchema>;

export const controlPollAnswerSchema = agentControlSchema.extend({
  session_id: z.string(),
  /** Send back as `after` to wait for what comes next. */
  cursor: z.number().int(),
});
export type ControlPollAnswer = z.infer<typeof controlPollAnswerSchema>;

/** What an operator sees of a session's control. */
export const controlViewSchema = z.object({
  state: z.enum(CONTROL_STATES),
  mode: z.enum(CONTROL_MODES),
  /** Operator who brought it into this state; null while it was always active. */
  operator_id: z.string().nullable(),
  reason: z.string().nullable(),
  /** While it is paused, whoever paused it: its agents that asked for a person, first things first; the first 20. */
  asked_by: z.array(z.string()),
  since_ms: z.number().int().nullable(),
  /** When an abandoned pause expires; null = never, or not paused. */
  expires_at_ms: z.number().int().nullable(),
  /** Stored messages waiting for a resume. */
  held_count: z.number().int(),
  /** Directives the agent has not taken yet. */
  pending_directive_count: z.number().int(),
});
export type ControlView = z.infer<typeof controlViewSchema>;

export const EXPIRY_ACTIONS = ['resume', 'terminate'] as const;
export type ExpiryAction = (typeof EXPIRY_ACTIONS)[number];

/** One line of the append-only audit; `hash` covers every other member, `prev_hash` included. */
export const auditEntrySchema = z.object({
  /** 1, 2, 3 ... without a gap, per tenant. */
  seq: z.number().int(),
  tenant_id: z.string(),
  at_ms: z.number().int(),
  operator_id: z.string(),
  role: z.string(),
  /** A `Command`, or `config.update`, `agent_key.create`, `agent_key.revoke`, `operator.create`, `operator.revoke`, `hitl.acknowledge`, `hitl.expire`. */
  action: z.string(),
  /** Null for what concerns no session. */
  session_id: z.string().nullable(),
  before_state: z.string().nullable(),
  after_state: z.string().nullable(),
  /**
   * `ok`, a note such as `already_paused`, or the error code that refused it. `begun` where the store cannot write an act and its
   * line as one (`invalidate_cache`, a wrong match, a channel's test): what came of it stands in a line behind it.
   */
  outcome: z.string(),
  /** Arguments of the command; never a secret. */
  detail: z.record(z.string(), z.unknown()),
  /** 64 hex; 64 zeros for the first entry. */
  prev_hash: z.string(),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
