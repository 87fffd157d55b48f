/** The kill switch's settings, and the incident that a firing leaves behind. */
import { z } from 'zod';

const KILL_SWITCH_SCOPES = ['session', 'agent'] as const;

const killSwitchSettingsSchema = z.object({
  enabled: z.boolean(),
  /** Requests remembered per window. */
  window_size: z.number().int().min(5).max(100),
  /** Fires strictly above. */
  threshold: z.number().min(1).max(50),
  /** `session`: one window per agent and session; `agent`: one per agent, as the seed has it. */
  scope: z.enum(KILL_SWITCH_SCOPES),
});
export type KillSwitchSettings = z.infer<typeof killSwitchSettingsSchema>;

export const KILL_SWITCH_PRESETS = {
  strict: { window_size: 10, threshold: 5 },
  default: { window_size: 20, threshold: 10 },
  tolerant: { window_size: 50, threshold: 20 },
} as const;
export type KillSwitchPreset = keyof typeof KILL_SWITCH_PRESETS;

export const KILL_SWITCH_DEFAULTS: Readonly<KillSwitchSettings> = {
  enabled: true,
  ...KILL_SWITCH_PRESETS.default,
  scope: 'session',
};

/** As one agent has them; null: never changed, or before changes were dated. */
export const agentKillSwitchSchema = killSwitchSettingsSchema.extend({
  updated_at_ms: z.number().nullable(),
  updated_by: z.string().nullable(),
});
export type AgentKillSwitch = z.infer<typeof agentKillSwitchSchema>;

/** `GET /v1/agents/{id}/kill-switch` */
export const killSwitchAnswerSchema = agentKillSwitchSchema.extend({
  agent_id: z.string(),
  /** Null: the values are no preset's. */
  preset: z.enum(['strict', 'default', 'tolerant']).nullable(),
  /** Highest score among this agent's live windows; null without one. */
  live_score: z.number().nullable(),
});
export type KillSwitchAnswer = z.infer<typeof killSwitchAnswerSchema>;

/** `PATCH`: any subset, or a preset. */
export const killSwitchPatchSchema = z.strictObject({
  ...killSwitchSettingsSchema.partial().shape,
  preset: z.enum(['strict', 'default', 'tolerant']).optional(),
});
export type KillSwitchPatch = z.infer<typeof killSwitchPatchSchema>;

/** What one of each adds to the score. */
export const SCORE_WEIGHTS = { similar_prompts: 1, similar_responses: 2, repeated_tool_calls: 1.5 } as const;

const scoreBreakdownSchema = z.object({
  /** Counts, before their weights (SCORE_WEIGHTS). */
  similar_prompts: z.number().int(),
  similar_responses: z.number().int(),
  repeated_tool_calls: z.number().int(),
  score: z.number(),
});
export type ScoreBreakdown = z.infer<typeof scoreBreakdownSchema>;

/** One request of the window that fired, oldest first; the last one is the request that was stopped. */
export const incidentEvidenceSchema = z.object({
  call_id: z.string(),
  at_ms: z.number(),
  /** The request's new content, redacted and cut at 1,000 characters. */
  prompt: z.string(),
  /** Text of its answer, redacted and cut; null while unanswered. */
  response: z.string().nullable(),
  tool_calls: z.array(
    z.object({
      name: z.string(),
      arguments: z.string(),
      result: z.string(),
      /**
       * A call that the stopped turn makes, too, with a similar result, by all of both; of the stopped request itself one that an
       * earlier request had that counts for it. Missing in incidents of before it was kept.
       */
      is_repeated: z.boolean().optional(),
    }),
  ),
  /** Why this request counts towards the score. */
  is_similar_prompt: z.boolean(),
  is_similar_response: z.boolean(),
  repeated_tool_call_count: z.number().int(),
  /** Hamming distance 0..64 of its prompt to the stopped one's; null for the stopped one, or when either is empty. */
  prompt_distance: z.number().int().nullable(),
});
export type IncidentEvidence = z.infer<typeof incidentEvidenceSchema>;

export const incidentSchema = z.object({
  incident_id: z.string(),
  seq: z.number().int(),
  agent_id: z.string(),
  session_id: z.string(),
  upstream: z.string(),
  model: z.string().nullable(),
  at_ms: z.number(),
  breakdown: scoreBreakdownSchema,
  threshold: z.number(),
  window_size: z.number().int(),
  evidence: z.array(incidentEvidenceSchema),
  reactivated_by: z.string().nullable(),
  reactivated_at_ms: z.number().nullable(),
});
export type Incident = z.infer<typeof incidentSchema>;
