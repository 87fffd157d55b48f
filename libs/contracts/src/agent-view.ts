/** An agent as the Agents page lists it: its policy, its spend, its kill switch and what it is doing right now. */
import { z } from 'zod';
import { agentPolicySchema, allAgentsPolicySchema } from './agent-policy.js';
import { killSwitchAnswerSchema } from './kill-switch.js';
import { CALL_DECISIONS } from './llm-call.js';

const spendAgainstBudgetSchema = z.object({
  /** Known costs only. */
  spent_usd: z.number(),
  /** Calls whose cost is unknown, so that it is not in `spent_usd`. */
  unpriced_call_count: z.number().int(),
  /** Null: no budget. */
  budget_usd: z.number().nullable(),
});

const spendSchema = z.object({
  /** What was spent in the last 60 minutes. What refuses is an estimate of it: of two clock hours, the older by its share. */
  hour: spendAgainstBudgetSchema,
  day: spendAgainstBudgetSchema,
  month: spendAgainstBudgetSchema,
});

const callRefusalSchema = z.object({
  decision: z.enum(CALL_DECISIONS),
  /** One line for people; never holds text of the prompt. */
  detail: z.string().nullable(),
  /** Of the call's end; that of `last_call_ms` while no call ended since. */
  at_ms: z.number(),
});
export type CallRefusal = z.infer<typeof callRefusalSchema>;

/** False: it is stopped, but the store has not taken that yet, and a restart would forget it. It is stored as soon as the store takes it. */
const isStopStored = z.boolean();

export const agentViewSchema = z.object({
  agent_id: z.string(),
  policy: agentPolicySchema,
  is_stop_stored: isStopStored,
  kill_switch: killSwitchAnswerSchema,
  spend: spendSchema,
  /** Of its proxied calls; null: none since this gateway's start. */
  last_call_ms: z.number().nullable(),
  calls_per_minute: z.number(),
  /** Of the last five minutes, 0..1; null without calls. */
  error_rate: z.number().nullable(),
  /** Of the same calls, those that a guard or an operator refused. */
  refusal_rate: z.number().nullable(),
  /** Its latest refused call; null: none since this gateway's start. */
  latest_refusal: callRefusalSchema.nullable(),
  running_call_count: z.number().int(),
  held_call_count: z.number().int(),
  /** Of the call that has been held longest. */
  held_since_ms: z.number().nullable(),
  /** Latest incident that nobody has reactivated yet. */
  open_incident_id: z.string().nullable(),
  /** Its calls also reach another gateway, where nothing that is done here holds: no pause, no stop. Known with `REDIS_URL` alone. */
  is_split: z.boolean(),
});
export type AgentView = z.infer<typeof agentViewSchema>;

/** `GET /v1/all-agents`: the agents of a tenant, taken together. */
export const allAgentsViewSchema = z.object({
  policy: allAgentsPolicySchema,
  is_stop_stored: isStopStored,
  /** By all of them, through this gateway. */
  spend: spendSchema,
});
export type AllAgentsView = z.infer<typeof allAgentsViewSchema>;
