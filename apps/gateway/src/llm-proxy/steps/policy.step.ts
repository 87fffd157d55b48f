/**
 * Step 3: may this agent run, now, this much? What a call will use is estimated and taken before it is sent, so that a
 * burst cannot overrun a budget; what it really used is put in its place afterwards. A call that fails before an answer gives
 * all back, one whose answer the upstream, or the gateway's end, breaks off all but its prompt and what went by. Who hangs up
 * on an upstream at work has used what was estimated: leaving early must not be a way around a limit.
 */
import {
  type AgentPolicy,
  type AgentScope,
  type BucketChange,
  type BudgetPeriod,
  type DocumentChange,
  type LimitDecision,
  NO_LIMITS,
  type RateLimiter,
  type SessionKey,
  sessionKey,
  tokensOf,
  type WindowState,
} from '#contracts';
import { fetchedAnswerId } from '#domain/llm-dialects';
import {
  budgetsSetSince,
  corrections,
  hasSessionCap,
  isOfAll,
  type LimitName,
  limitWindows,
  MemoryRateLimiter,
  type NamedWindow,
  rateLimitHeaders,
  type SessionCaps,
} from '#domain/policy';
import type { Clock } from '#kernel';
import type { AgentDirectory } from '../agents/agent-directory.js';
import type { AgentStanding } from '../agents/agent-standing.js';
import type { UnsettledAnswer, UnsettledAnswers } from '../calls/unsettled-answers.js';
import { barred } from '../limits/barred-call.js';
import { costOf, noteUnpriced, standardCostOf } from '../limits/cost-of-call.js';
import type { EarlierUse } from '../limits/earlier-use.js';
import { capped, limited } from '../limits/limit-refusals.js';
import type { PriceBook } from '../limits/price-book.js';
import { allTaken, limitedScope, spentAtMs, type TakenLimits } from '../limits/taken-limits.js';
import { byToken, estimateOf, type Used, usedBy } from '../limits/used-by-call.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import type { Step } from '../step.js';

export interface PolicyParts {
  agents: Pick<AgentDirectory, 'restriction' | 'restrictionOfAll'>;
  standing: AgentStanding;
  prices: Pick<PriceBook, 'price'>;
  limiter: RateLimiter;
  caps: SessionCaps;
  earlierUse: Pick<EarlierUse, 'mayHave' | 'restore' | 'noteUncounted'>;
  unsettled: UnsettledAnswers;
  clock: Clock;
  /** A budget's rest did not cover what the call might cost. */
  onOverBudget: (call: ProxyCall, budget: CalledBudget) => void;
  /** Nothing of a budget had been used here before this call: it is new, or the limiter has lost it. */
  onBudgetBegun: (budget: CalledBudget) => void;
  /** The limiter's store cannot be reached: the call goes on, counted. */
  onLimiterFailed: (error: unknown) => void;
  /** What a call took of budgets, and did not use: the limiter's store cannot be told. */
  onNotGivenBack: (changes: readonly BucketChange[]) => void;
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
    const policy = parts.agents.restriction(call.scope);
    const { sessionKey } = call;
    const fetched = fetchedId(call);
    if (fetched !== null) call.unsettled = parts.unsettled.find(call.scope, fetched);
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
  },
  settle(call: ProxyCall): void {
    const used = usedBy(call);
    call.costMicroUsd = costOf(parts.prices, call, used);
    for (const taken of allTaken(call)) giveBack(parts, call, taken, used, call.costMicroUsd);
    if (call.unsettled !== null) settleFetched(parts, call, call.unsettled);
    else {
      noteUnpriced(call, call.costMicroUsd);
      noteUnsettled(parts, call, used);
    }
    chargeNewBudgets(parts, call);
    countInNewCaps(parts, call, used);
  },
});

/**
 * What its policy bars, asked once more for a call that may have waited since: who narrows the policy of a paused agent means the
 * call that hangs there, too. What was taken for it stays taken.
 */
export const policyAgainStep = ({ agents, prices }: Pick<PolicyParts, 'agents' | 'prices'>): Step => ({
  name: 'policy',
  onFailure: 'closed',
  run(call: ProxyCall): Verdict | undefined {
    const { taken, takenTogether } = call;
    const barredIfChanged = (policy: AgentPolicy | null, before: TakenLimits | null) =>
      policy === null || policy === before?.policy
        ? undefined
        : barred(call, policy, costOf(prices, call, estimateOf(call)));
    return (
      barredIfChanged(agents.restriction(call.scope), taken) ??
      barredIfChanged(agents.restrictionOfAll(call.tenantId), takenTogether)
    );
  },
});

const fetchedId = ({ incoming, path }: ProxyCall): string | null =>
  fetchedAnswerId(incoming.method as string, path);

/** Stored with the call's record, or not at all: one without the other would count twice, or never. */
const withRecordOf =
  (call: ProxyCall) =>
  (change: DocumentChange): void => {
    call.documents = change;
  };

/** An answer that its vendor keeps and goes on with, or may: what it takes is told to whoever fetches it. */
function noteUnsettled({ unsettled, prices, clock }: PolicyParts, call: ProxyCall, used: Used): void {
  const { answer, costMicroUsd, taken, takenTogether } = call;
  const dialect = call.dialect?.name ?? null;
  const isKept = dialect === 'openai-responses' || dialect === 'gemini-interactions';
  if (!isKept || !call.wasTakenUp || !answer?.answer_id) return;
  if (answer.usage !== null || answer.finish !== null || answer.failed) return;
  const left = (of: TakenLimits | null) =>
    of && {
      ...of,
      // By now it is counted, if it was not at first.
      ...(of.takenAtMs === null && { toldAtMs: clock.nowMs() }),
      tokens: tokensOf(used.usage),
      costMicroUsd: limitedCostOf(prices, call, used, costMicroUsd),
    };
  const note = {
    dialect,
    model: call.model,
    sessionId: call.sessionId,
    startedAtMs: call.startedAtMs,
    costMicroUsd,
    taken: left(taken),
    takenTogether: left(takenTogether),
  };
  unsettled.note(call.scope, answer.answer_id, note, withRecordOf(call));
}

/**
 * What a fetched answer took comes in the place of what was counted for it, where that was taken. In the record the fetch costs what
 * had not been counted, less than nothing where that was too much, so that the two add up to what is paid.
 */
function settleFetched(parts: PolicyParts, call: ProxyCall, unsettled: UnsettledAnswer): void {
  const { costMicroUsd: counted } = unsettled;
  const usage = call.answer?.usage;
  if (!usage || !parts.unsettled.remove(call.scope, fetchedId(call) as string, withRecordOf(call))) {
    // Neither usage nor calls of it are this fetch's, but of one before it, or to come.
    call.answer = null;
    return;
  }
  const used = byToken(usage);
  const cost = costOf(parts.prices, call, used);
  call.costMicroUsd = cost === null ? null : cost - (counted ?? 0);
  noteUnpriced(call, cost);
  // Of unknown cost the fetch's record adds nothing: what had been counted stays.
  const together = cost ?? counted;
  for (const taken of allTaken(unsettled)) giveBack(parts, call, taken, used, together);
  // No cap has counted it: one that was set since began with its record, which the fetch's own completes.
  const cappedKey = unsettled.taken?.cappedKey ? null : call.taken?.cappedKey;
  if (cappedKey) parts.caps.settle(cappedKey, counted, { calls: 1, costMicroUsd: together });
  if (call.sessionId === null) joinSession(call, unsettled.sessionId ?? null);
}

/** Whoever names none fetches for the session that asked: there it has cost what it did. Once it is over, so that no poll waits or is capped as a call of it. */
function joinSession(call: ProxyCall, sessionId: string | null): void {
  if (sessionId === null) return;
  call.sessionId = sessionId;
  call.sessionKey = sessionKey(call.tenantId, sessionId);
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
      return undefined;
    },
  );
}

const windowsOf = (
  call: ProxyCall,
  { policy, requests = 1, tokens, costMicroUsd, nowMs }: TakenLimits & { requests?: number },
): NamedWindow[] =>
  limitWindows(limitedScope(call, policy), policy, { requests, tokens, costMicroUsd }, nowMs);

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
  call.answerHeaders = decision.allowed && isOfAll(policy) ? { ...headers, ...call.answerHeaders } : headers;
  const scope = limitedScope(call, policy);
  if (decision.refusedBy === null) {
    taken.takenAtMs = decision.atMs;
    for (const [at, { name, amount }] of windows.entries()) {
      const period = PERIOD_OF_LIMIT[name];
      if (period !== undefined && amount > 0 && decision.begun[at]) onBudgetBegun({ scope, period });
    }
    return undefined;
  }
  if (taken.isTold) giveBackTold(parts, windows, taken);
  const { name } = windows[decision.refusedBy] as NamedWindow;
  const period = PERIOD_OF_LIMIT[name];
  if (period !== undefined) onOverBudget(call, { scope, period });
  const state = decision.windows[decision.refusedBy] as WindowState;
  return limited(taken, name, decision.retryAfterMs, state);
}

/** Its budgets were told as if it had been let through. */
function giveBackTold(
  { limiter, clock, onLimiterFailed, onNotGivenBack }: PolicyParts,
  windows: readonly NamedWindow[],
  { nowMs }: TakenLimits,
): void {
  const changes = corrections(windows, { costMicroUsd: 0 }, nowMs);
  limiter.correct(changes, clock.nowMs()).catch((error: unknown) => {
    onLimiterFailed(error);
    onNotGivenBack(changes);
  });
}

/**
 * Limits count what text in the standard tier costs where nobody knows the call's own price: a burst must not overrun them. Of what has no
 * price at all they count nothing, as its record does: also where its model has lost it since the call began.
 */
const limitedCostOf = (
  prices: PolicyParts['prices'],
  call: ProxyCall,
  used: Used,
  ownCost: number | null,
): number => ownCost ?? standardCostOf(prices, call, used) ?? 0;

function giveBack(
  { prices, caps, limiter, clock, onLimiterFailed, onNotGivenBack }: PolicyParts,
  call: ProxyCall,
  taken: TakenLimits,
  used: Used,
  ownCost: number | null,
): void {
  const { requests } = used;
  const costMicroUsd = limitedCostOf(prices, call, used, ownCost);
  if (taken.cappedKey !== null)
    caps.settle(taken.cappedKey, taken.costMicroUsd, { calls: requests, costMicroUsd });
  const real = { requests, tokens: tokensOf(used.usage), costMicroUsd };
  const { takenAtMs, toldAtMs } = taken;
  // A call that went on because the limiter's store was silent is told of whole; one that the limiter refused has used nothing.
  const isCounted = takenAtMs !== null || toldAtMs !== undefined;
  const windows = windowsOf(call, isCounted ? taken : { ...taken, ...NOTHING_TAKEN });
  const changes = corrections(windows, real, takenAtMs ?? toldAtMs);
  if (changes.length === 0) return;
  limiter.correct(changes, toldAtMs === undefined ? undefined : clock.nowMs()).catch((error: unknown) => {
    // A store that is still away is told when it is back, with all that was spent without it.
    if (!isCounted) return;
    onLimiterFailed(error);
    const budgets = windows.filter(({ name }) => PERIOD_OF_LIMIT[name] !== undefined);
    onNotGivenBack(refundsOf(corrections(budgets, real, takenAtMs ?? toldAtMs)));
  });
}
const NOTHING_TAKEN = { requests: 0, tokens: 0, costMicroUsd: 0 } as const;

const refundsOf = (changes: readonly BucketChange[]): BucketChange[] =>
  changes.filter(({ amount }) => amount < 0);

/** A budget that was set while the call was under way began with what had been spent by then: the call's own cost comes on top. */
function chargeNewBudgets(
  { agents, limiter, clock, onLimiterFailed, onNotGivenBack }: PolicyParts,
  call: ProxyCall,
): void {
  const { costMicroUsd } = call;
  if (!costMicroUsd) return;
  const spent = call.unsettled ?? call;
  const spentMs = spentAtMs(spent);
  const charge = (policy: AgentPolicy | null, before: TakenLimits | null | undefined): void => {
    if (policy === null || policy === before?.policy) return;
    const limits = budgetsSetSince(before?.policy ?? NO_LIMITS, policy);
    const windows = limitWindows(limitedScope(call, policy), limits, NOTHING_TAKEN, spentMs);
    const changes = corrections(windows, { costMicroUsd }, spentMs);
    if (changes.length === 0) return;
    limiter.correct(changes, clock.nowMs()).catch((error: unknown) => {
      onLimiterFailed(error);
      // Of a fetched answer that took less than what had been counted.
      onNotGivenBack(refundsOf(changes));
    });
  };
  charge(agents.restriction(call.scope), spent.taken);
  charge(agents.restrictionOfAll(call.tenantId), spent.takenTogether);
}

/** A cap that was set while the call was under way began with the session's records, where the call was not yet. */
function countInNewCaps(
  { caps, earlierUse }: PolicyParts,
  { sessionKey, taken, unsettled, costMicroUsd }: ProxyCall,
  { requests }: Used,
): void {
  const isCounted = taken !== null && taken.cappedKey !== null;
  if (isCounted || requests === 0 || sessionKey === null) return;
  // What a fetched answer took is in those that counted what was asked.
  const cost = unsettled?.taken?.cappedKey ? 0 : costMicroUsd;
  if (caps.sessionCount > 0 && caps.look(sessionKey) !== null) caps.record(sessionKey, cost);
  else earlierUse.noteUncounted(sessionKey);
}

const PERIOD_OF_LIMIT: Partial<Record<LimitName, BudgetPeriod>> = {
  budget_hour: 'hour',
  budget_day: 'day',
  budget_month: 'month',
};
