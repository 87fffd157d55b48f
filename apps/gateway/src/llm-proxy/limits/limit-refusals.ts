/** What a call is told that a limit of its agent's policy, or a cap of its session, does not let through. */
import type { LimitName, SessionCap } from '#domain/policy';
import type { Verdict } from '../proxy-call.js';
import { policyRefusal } from './policy-refusal.js';

const CAP_TEXTS: Record<SessionCap, string> = {
  session_calls_max: 'calls',
  session_cost_usd_max: 'cost',
  session_minutes_max: 'time',
};

/** A cap of its session would be passed. */
export const capped = (cap: SessionCap): Verdict =>
  policyRefusal(
    'session_capped',
    'session_capped',
    `This session has reached its cap on ${CAP_TEXTS[cap]} (${cap}).`,
    null,
  );

const LIMIT_TEXTS: Record<LimitName, string> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  budget_hour: 'the budget of an hour',
  budget_day: 'the budget of a day',
  budget_month: 'the budget of a month',
};
const BOUND_IT = 'It may fit with a lower bound on its output.';

/** @param isUsedUp nothing is left; else the call may take more than is left, or, where no waiting helps, than there is at all */
export const limited = (name: LimitName, retryAfterMs: number | null, isUsedUp: boolean): Verdict =>
  name === 'requests_per_minute' || name === 'tokens_per_minute'
    ? policyRefusal(
        'rate_limited',
        'rate_limited',
        retryAfterMs === null
          ? `This call may take more than this agent's limit of ${LIMIT_TEXTS[name]}. ${BOUND_IT}`
          : `This agent has reached its limit of ${LIMIT_TEXTS[name]}.`,
        retryAfterMs,
      )
    : policyRefusal(
        'over_budget',
        'budget_exceeded',
        isUsedUp
          ? `This agent has used up ${LIMIT_TEXTS[name]}.`
          : `This call may cost more than is left of ${LIMIT_TEXTS[name]}. ${BOUND_IT}`,
        retryAfterMs,
      );
