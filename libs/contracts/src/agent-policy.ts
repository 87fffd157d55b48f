/** What an agent may do and spend through the proxy. Absent limits (null) do not limit. */
import { z } from 'zod';
import { CACHE_POLICIES } from './llm-cache.js';
import { SEMANTIC_LOOP_POLICIES } from './semantic-loop.js';

const limit = (max: number) => z.number().int().min(1).max(max).nullable();
const usd = z.number().positive().max(1_000_000).nullable();

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day such as 09:00');
const timeZone = z.string().refine((zone) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}, 'an IANA time zone such as Europe/Zurich or UTC');

export const allowedHoursSchema = z.object({
  time_zone: timeZone,
  /** 1 = Monday ... 7 = Sunday (ISO 8601). */
  days: z.array(z.number().int().min(1).max(7)).min(1).max(7),
  from: clockTime,
  /** Exclusive; before or equal to `from`: the window ends on the next day, and belongs to the day it began. */
  to: clockTime,
});
export type AllowedHours = z.infer<typeof allowedHoursSchema>;

/** What becomes of a call of which nobody can tell beforehand what it will cost. */
export const UNKNOWN_COST_POLICIES = ['pass', 'refuse'] as const;
export type UnknownCostPolicy = (typeof UNKNOWN_COST_POLICIES)[number];
export const UNKNOWN_COST_POLICY_DEFAULT: UnknownCostPolicy = 'pass';

/** Each matches as a price's does: `ModelPrice.model`, without tiers. */
const allowedModels = z.array(z.string().trim().min(1).max(200)).min(1).max(100);

/** What an operator sets. */
const agentLimitsSchema = z.object({
  allowed_hours: allowedHoursSchema.nullable(),
  /** Null: any. */
  allowed_models: allowedModels.nullable(),
  requests_per_minute: limit(10_000_000),
  /** Input plus output tokens: estimated before, corrected after. */
  tokens_per_minute: limit(1_000_000_000),
  session_calls_max: limit(10_000_000),
  session_cost_usd_max: usd,
  session_minutes_max: limit(1_000_000),
  /** Sliding hour. */
  budget_hour_usd: usd,
  /** Calendar day, UTC. */
  budget_day_usd: usd,
  /** Calendar month, UTC. */
  budget_month_usd: usd,
});
export type AgentLimits = z.infer<typeof agentLimitsSchema>;

export const NO_LIMITS: Readonly<AgentLimits> = {
  allowed_hours: null,
  allowed_models: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  session_calls_max: null,
  session_cost_usd_max: null,
  session_minutes_max: null,
  budget_hour_usd: null,
  budget_day_usd: null,
  budget_month_usd: null,
};

/** `GET /v1/agents/{id}/policy` */
export const agentPolicySchema = agentLimitsSchema.extend({
  agent_id: z.string(),
  unknown_cost: z.enum(UNKNOWN_COST_POLICIES),
  semantic_loop: z.enum(SEMANTIC_LOOP_POLICIES),
  cache: z.enum(CACHE_POLICIES),
  /** False: every call is refused. */
  active: z.boolean(),
  /** An operator's id or `kill_switch`; null while active. */
  deactivated_by: z.string().nullable(),
  deactivated_at_ms: z.number().nullable(),
  deactivated_reason: z.string().nullable(),
  updated_at_ms: z.number().nullable(),
  updated_by: z.string().nullable(),
});
export type AgentPolicy = z.infer<typeof agentPolicySchema>;

/** `PATCH /v1/agents/{id}/policy`: any subset; null lifts a limit. `reason` goes with a change, and is kept with `active: false`. */
export const agentPolicyPatchSchema = z.strictObject({
  ...agentLimitsSchema.partial().shape,
  unknown_cost: z.enum(UNKNOWN_COST_POLICIES).optional(),
  semantic_loop: z.enum(SEMANTIC_LOOP_POLICIES).optional(),
  cache: z.enum(CACHE_POLICIES).optional(),
  active: z.boolean().optional(),
  reason: z.string().trim().min(1).max(500).optional(),
});
export type AgentPolicyPatch = z.infer<typeof agentPolicyPatchSchema>;

/** Of a policy, what can hold for all agents of a tenant together: none of it is about one session, or one agent's prompts. */
const ofAllAgents = {
  allowed_hours: true,
  allowed_models: true,
  requests_per_minute: true,
  tokens_per_minute: true,
  budget_hour_usd: true,
  budget_day_usd: true,
  budget_month_usd: true,
  unknown_cost: true,
} as const;

/** `GET /v1/all-agents/policy`: what all agents of a tenant may do and spend together, whatever each may by its own. */
export const allAgentsPolicySchema = agentPolicySchema.pick({
  ...ofAllAgents,
  active: true,
  deactivated_by: true,
  deactivated_at_ms: true,
  deactivated_reason: true,
  updated_at_ms: true,
  updated_by: true,
});
export type AllAgentsPolicy = z.infer<typeof allAgentsPolicySchema>;

/** `PATCH /v1/all-agents/policy`: any subset; null lifts a limit. */
export const allAgentsPolicyPatchSchema = agentPolicyPatchSchema.pick({
  ...ofAllAgents,
  active: true,
  reason: true,
});
export type AllAgentsPolicyPatch = z.infer<typeof allAgentsPolicyPatchSchema>;

/** By whom the kill switch deactivates. */
export const KILL_SWITCH_ACTOR = 'kill_switch';
