/** What a call is told that a limit of a policy, or a cap of its session, does not let through. */
import type { AgentPolicy, WindowState } from '#contracts';
import { isOfAll, type LimitName, type SessionCap } from '#domain/policy';
import { MINUTE_MS } from '#kernel';
import type { Verdict } from '../proxy-call.js';
import { policyRefusal } from './policy-refusal.js';
import type { TakenLimits } from './taken-limits.js';

/** What a session may cost is told in no figure, as budgets are not: an agent need not know it. */
const CAP_TEXTS: Record<SessionCap, (max: number) => string> = {
  session_calls_max: (max) => `calls (session_calls_max: ${max})`,
  session_cost_usd_max: () => 'cost (session_cost_usd_max)',
  session_minutes_max: (max) => `time (session_minutes_max: ${max})`,
};

/** A cap of its session would be passed. */
export const capped = (cap: SessionCap, policy: Pick<AgentPolicy, SessionCap>): Verdict =>
  policyRefusal(
    'session_capped',
    'session_capped',
    `This session has reached its cap on ${CAP_TEXTS[cap](policy[cap] ?? 0)}. Another session begins anew; an operator can raise the cap.`,
    null,
  );

const LIMIT_TEXTS: Record<LimitName, string> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  budget_hour: 'the budget of an hour',
  budget_day: 'the budget of a day',
  budget_month: 'the budget of a month',
};
const BOUND_IT =
  'It may fit if it asks for fewer output tokens (max_tokens, or what your API calls it); an operator can raise the limit.';

/** "2026-11-29 00:00 UTC": read later, and by people elsewhere; never too early. */
export const utcMinute = (ms: number): string =>
  `${new Date(Math.ceil(ms / MINUTE_MS) * MINUTE_MS).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Whose limit it is: one agent's, or that of all agents of its tenant together. */
const OF_ONE = { it_has: 'This agent has', it: 'It', its: 'its', of_it: "this agent's" };
const OF_ALL: typeof OF_ONE = {
  it_has: 'The agents of this tenant together have',
  it: 'They',
  its: 'their',
  of_it: "all agents'",
};

/**
 * @param taken what it was not let take, and when
 * @param retryAfterMs null: no waiting helps
 */
export function limited(
  { policy, nowMs }: Pick<TakenLimits, 'policy' | 'nowMs'>,
  name: LimitName,
  retryAfterMs: number | null,
  { used, limit }: Pick<WindowState, 'used' | 'limit'>,
): Verdict {
  const text = LIMIT_TEXTS[name];
  const { it_has, it, its, of_it } = isOfAll(policy) ? OF_ALL : OF_ONE;
  if (name === 'requests_per_minute' || name === 'tokens_per_minute')
    return policyRefusal(
      'rate_limited',
      'rate_limited',
      retryAfterMs === null
        ? `This call may take more than ${of_it} limit of ${text} (${limit}). ${BOUND_IT}`
        : `${it_has} reached ${its} limit of ${text} (${limit}). Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
      retryAfterMs,
    );
  return policyRefusal(
    'over_budget',
    'budget_exceeded',
    used >= limit
      ? `${it_has} used up ${text}. ${it} may call again ${retryAfterMs === null ? '' : `from ${utcMinute(nowMs + retryAfterMs)}, or `}once an operator raises it.`
      : `This call may cost more than is left of ${text}${isOfAll(policy) ? ' of all agents together' : ''}. ${BOUND_IT}`,
    retryAfterMs,
  );
}
