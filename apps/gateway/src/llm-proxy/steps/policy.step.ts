/**
 * Step 3: may this agent run, now, this much? What a call will use is estimated and taken before it is sent, so that a
 * burst cannot overrun a budget; what it really used is put in its place afterwards (`settleLimits`).
 */
import {
  type AgentPolicy,
  type AgentScope,
  type BudgetPeriod,
  type LimitDecision,
  NO_LIMITS,
  type SessionKey,
  tokensOf,
  type WindowState,
} from '#contracts';
import {
  corrections,
  countAlike,
  hasSessionCap,
  isOfAll,
  MemoryRateLimiter,
  type NamedWindow,
  rateLimitHeaders,
} from '#domain/policy';
import type { AgentStanding } from '../agents/agent-standing.js';
import { barred } from '../limits/barred-call.js';
import { costOf } from '../limits/cost-of-call.js';
import type { EarlierUse } from '../limits/earlier-use.js';
import { capped, limited } from '../limits/limit-refusals.js';
import {
  correct,
  fetchedId,
  giveBackAll,
  type SettleLimitsParts,
  settleLimits,
} from '../limits/settle-limits.js';
import { limitedScope, PERIOD_OF_LIMIT, type TakenLimits, windowsOf } from '../limits/taken-limits.js';
import { estimateOf, type Used } from '../limits/used-by-call.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import type { Step } from '../step.js';

export interface PolicyParts extends SettleLimitsParts {
  standing: AgentStanding;
  earlierUse: Pick<EarlierUse, 'mayHave' | 'restore' | 'noteUncounted'>;
  /** A budget's rest did not cover what the call might cost. */
  onOverBudget: (call: ProxyCall, budget: CalledBudget) => void;
  /** Nothing of a budget had been used here before this call: it is new, or the limiter has lost it. */
  onBudgetBegun: (budget: CalledBudget) => void;
  /** What the session used before the start cannot be read: this call goes on uncapped, counted. */
  onCapsFailed: (error: unknown) => void;
}

/** Of which a call takes. */
export interface CalledBudget {
  /** An agent's, or that of all agents together. */
  scope: AgentScope;
  period: BudgetPeriod;
}

export const policyStep = (parts: PolicyParts): Step => ({
  name: 'policy',
  onFailure: 'closed',
  run(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
    const fetched = fetchedId(call);
    if (fetched !== null) call.unsettled = parts.unsettled.find(call.scope, fetched);
    return ask(parts, call);
  },
  settle(call: ProxyCall): void {
    settleLimits(parts, call);
  },
});

/**
 * The same once more for a call that may have waited since: who narrows the policy of a paused agent, or sets it a budget, means the
 * call that hangs there, too. Under other limits than it came under it gives back what it took, and takes anew; else that stays taken.
 *
 * @param hold the step, run again for a call that waits here
 */
export const policyAgainStep = (parts: PolicyParts, hold: Pick<Step, 'run'>): Step => {
  const run = (call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> => {
    const policy = parts.agents.restriction(call.scope);
    const ofAll = parts.agents.restrictionOfAll(call.tenantId);
    const { taken, takenTogether } = call;
    if (isCountedAlike(taken, policy) && isCountedAlike(takenTogether, ofAll))
      return barredNow(parts, call, policy, taken) ?? barredNow(parts, call, ofAll, takenTogether);
    giveBackAll(parts, call);
    const asked = ask(parts, call);
    if (!(asked instanceof Promise)) return asked;
    // It has waited once more.
    return asked.then(
      async (refusal) => refusal ?? (call.isGone ? undefined : ((await hold.run?.(call)) ?? run(call))),
    );
  };
  return { name: 'policy', onFailure: 'closed', run };
};

/** @param policy as it is now */
const isCountedAlike = (taken: TakenLimits | null, policy: AgentPolicy | null): boolean =>
  policy === (taken?.policy ?? null) || countAlike(taken?.policy ?? NO_LIMITS, policy ?? NO_LIMITS);

/** A price may be gone though the policy is the same. */
const barredNow = (
  { prices }: Pick<PolicyParts, 'prices'>,
  call: ProxyCall,
  policy: AgentPolicy | null,
  taken: TakenLimits | null,
): Verdict | undefined =>
  policy !== null && (policy !== taken?.policy || policy.unknown_cost === 'refuse')
    ? barred(call, policy, costOf(prices, call, estimateOf(call)))
    : undefined;

/** Takes of the limits as they are now, once it is known what the session has used. */
function ask(parts: PolicyParts, call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
  const policy = parts.agents.restriction(call.scope);
  const { sessionKey } = call;
  if (policy === null || sessionKey === null || !parts.earlierUse.mayHave(sessionKey, policy))
    return guard(parts, call, policy, sessionKey);
  return parts.earlierUse.restore(sessionKey).then(
    () => guard(parts, call, parts.agents.restriction(call.scope), sessionKey),
    (error: unknown) => {
      parts.onCapsFailed(error);
      // Uncounted as well: the session's next call asks again.
      return guard(parts, call, parts.agents.restriction(call.scope), null);
    },
  );
}

/**
 * @param policy as it is now
 * @param cappedKey null: no caps are counted
 */
function guard(
  parts: PolicyParts,
  call: ProxyCall,
  policy: AgentPolicy | null,
  cappedKey: SessionKey | null,
): Verdict | undefined | Promise<Verdict | undefined> {
  // Also without a policy: the key may have been revoked while the body came.
  const verdict = parts.standing(call);
  if (verdict !== undefined) return verdict;
  const ofAll = parts.agents.restrictionOfAll(call.tenantId);
  if (policy === null && ofAll === null) return undefined;
  const estimate = estimateOf(call);
  // Of both at one time: a call counts in one day.
  const nowMs = parts.clock.nowMs();
  const takeTogether = () =>
    ofAll === null ? undefined : takeLimits(parts, call, null, ofAll, estimate, nowMs);
  const own = policy === null ? undefined : takeLimits(parts, call, cappedKey, policy, estimate, nowMs);
  // What was taken of the agent's own is given back where all agents together have no more.
  if (own instanceof Promise) return own.then((refusal) => refusal ?? takeTogether());
  return own ?? takeTogether();
}

function takeLimits(
  parts: PolicyParts,
  call: ProxyCall,
  cappedKey: SessionKey | null,
  policy: AgentPolicy,
  estimate: Used,
  nowMs: number,
): Verdict | undefined | Promise<Verdict | undefined> {
  const cost = costOf(parts.prices, call, estimate);
  const verdict = barred(call, policy, cost);
  if (verdict !== undefined) return verdict;
  // What no cap has counted from its beginning is read from the store, whole, once there is a cap.
  const isCounted = cappedKey !== null && (hasSessionCap(policy) || parts.caps.look(cappedKey) !== null);
  if (isCounted) {
    const decision = parts.caps.decide(cappedKey, policy, cost);
    if (!decision.allowed) return capped(decision.cap, policy);
    parts.caps.record(cappedKey, cost);
  }
  const taken: TakenLimits = {
    policy,
    cappedKey: isCounted ? cappedKey : null,
    tokens: tokensOf(estimate.usage),
    costMicroUsd: cost,
    nowMs,
    takenAtMs: null,
  };
  if (isOfAll(policy)) call.takenTogether = taken;
  else call.taken = taken;
  const all = windowsOf(call, taken);
  // An answer that is paid for can be fetched, and one that goes on be cancelled, however far a budget is overspent.
  const windows = estimate.paid === 'nothing' ? all.filter(({ amount }) => amount > 0) : all;
  if (windows.length === 0) return undefined;
  const { limiter } = parts;
  const applyTo = (decision: LimitDecision) => apply(parts, call, { windows, decision, taken });
  if (limiter instanceof MemoryRateLimiter) return applyTo(limiter.takeNow(windows));
  taken.isAsked = true;
  return limiter.take(windows, taken.nowMs).then(
    (decision) => {
      taken.isAsked = false;
      return applyTo(decision);
    },
    (error: unknown) => {
      taken.isAsked = false;
      parts.onLimiterFailed(error);
      giveBackTold(parts, windows, taken);
      return undefined;
    },
  );
}

interface Answer {
  windows: readonly NamedWindow[];
  decision: LimitDecision;
  taken: TakenLimits;
}

function apply(
  parts: PolicyParts,
  call: ProxyCall,
  { windows, decision, taken }: Answer,
): Verdict | undefined {
  const { onOverBudget, onBudgetBegun } = parts;
  const headers = rateLimitHeaders(windows, decision);
  const { policy } = taken;
  // What refuses is told, else its own.
  call.answerHeaders =
    decision.allowed && isOfAll(policy)
      ? { ...headers, ...call.answerHeaders }
      : { ...call.answerHeaders, ...headers };
  const scope = limitedScope(call, policy);
  if (decision.refusedBy === null) {
    taken.takenAtMs = decision.atMs;
    for (const [at, { name, amount }] of windows.entries()) {
      const period = PERIOD_OF_LIMIT[name];
      if (period !== undefined && amount > 0 && decision.begun[at]) onBudgetBegun({ scope, period });
    }
    return undefined;
  }
  giveBackTold(parts, windows, taken);
  const { name } = windows[decision.refusedBy] as NamedWindow;
  const period = PERIOD_OF_LIMIT[name];
  if (period !== undefined) onOverBudget(call, { scope, period });
  const state = decision.windows[decision.refusedBy] as WindowState;
  return limited(taken, name, decision.retryAfterMs, state);
}

/** Its budgets may have been told as if it had been let through. */
function giveBackTold(parts: PolicyParts, windows: readonly NamedWindow[], taken: TakenLimits): void {
  if (taken.isTold)
    correct(parts, corrections(windows, { costMicroUsd: 0 }, taken.nowMs), parts.clock.nowMs());
}
