/** An agent as the Agents page lists it: its policy, its spend, its kill switch and what it is doing right now. */
import { z } from 'zod';
import { agentPolicySchema } from './agent-policy.js';
import { killSwitchAnswerSchema } from './kill-switch.js';

export const spendAgainstBudgetSchema = z.object({
  /** Known costs only. */
  spent_usd: z.number(),
  /** Calls whose cost is unknown, so that it is not in `spent_usd`. */
  unpriced_call_count: z.number().int(),
  /** Null: no budget. */
  budget_usd: z.number().nullable(),
});

export const agentViewSchema = z.object({
  agent_id: z.string(),
  policy: agentPolicySchema,
  kill_switch: killSwitchAnswerSchema,
  spend: z.object({
    hour: spendAgainstBudgetSchema,
    day: spendAgainstBudgetSchema,
    month: spendAgainstBudgetSchema,
  }),
  /** Of its proxied calls; null: none since this gateway's start. */
  last_call_ms: z.number().nullable(),
  calls_per_minute: z.number(),
  /** Of the last five minutes, 0..1; null without calls. */
  error_rate: z.number().nullable(),
  running_call_count: z.number().int(),
  held_call_count: z.number().int(),
  /** Of the call that has been held longest. */
  held_since_ms: z.number().nullable(),
  /** Latest incident that nobody has reactivated yet. */
  open_incident_id: z.string().nullable(),
});
export type AgentView = z.infer<typeof agentViewSchema>;
