/**
 * Step 3: may this agent run, now, this much? What a call will use is estimated and taken before it is sent, so that a
 * burst cannot overrun a budget; what it really used is put in its place afterwards. A call that fails before an answer gives
 * all back, one whose answer the upstream, or the gateway's end, breaks off all but its prompt and what went by. Who hangs up
 * on an upstream at work has used what was estimated: leaving early must not be a way around a limit.
 */
import {
  type AgentPolicy,
  type LimitDecision,
  type LlmAnswer,
  type ModelPrice,
  NO_LIMITS,
  type RateLimiter,
  type SessionKey,
  type Usage,
  type WindowState,
} from '#contracts';
import type { BudgetPeriod } from '#domain/alerts';
import { fetchedAnswerId, isInteraction } from '#domain/llm-dialects';
import {
  budgetsSetSince,
  corrections,
  costMicroUsd,
  estimateUsage,
  hasSessionCap,
  type LimitName,
  limitWindows,
  MemoryRateLimiter,
  type NamedWindow,
  OUTPUT_TOKENS_ESTIMATE,
  rateLimitHeaders,
  type SessionCap,
  type SessionCaps,
  usageParts,
} from '#domain/policy';
import type { Clock } from '#kernel';
import type { AgentDirectory } from '../agent-directory.js';
import type { AgentStanding } from '../agent-standing.js';
import type { EarlierUse } from '../earlier-use.js';
import { policyRefusal } from '../policy-refusal.js';
import type { PriceBook } from '../price-book.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import type { Step } from '../step.js';
import type { TakenLimits } from '../taken-limits.js';
import type { UnsettledAnswer, UnsettledAnswers } from '../unsettled-answers.js';

export interface PolicyParts {
  agents: Pick<AgentDirectory, 'restriction'>;
  standing: AgentStanding;
  prices: Pick<PriceBook, 'price'>;
  limiter: RateLimiter;
  caps: SessionCaps;
  earlierUse: Pick<EarlierUse, 'mayHave' | 'restore'>;
  unsettled: UnsettledAnswers;
  clock: Clock;
  /** A budget's rest did not cover what the call might cost. */
  onOverBudget: (call: ProxyCall, period: BudgetPeriod) => void;
  /** Nothing of a budget had been used before this call: it is new, or the limiter has lost it. */
  onBudgetBegun: (call: ProxyCall, period: BudgetPeriod) => void;
  /** The limiter's store cannot be reached: the call goes on, counted. */
  onLimiterFailed: (error: unknown) => void;
  /** What the session used before the start cannot be read: this call goes on uncapped, counted. */
  onCapsFailed: (error: unknown) => void;
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
    if (call.taken !== null) giveBack(parts, call, call.taken, used);
    if (call.unsettled !== null) settleFetched(parts, call, call.unsettled);
    else {
      noteUnpriced(call, call.costMicroUsd);
      noteUnsettled(parts, call, used);
    }
    chargeNewBudgets(parts, call);
  },
});

const fetchedId = ({ incoming, path }: ProxyCall): string | null =>
  fetchedAnswerId(incoming.method as string, path);

/** An answer that its vendor keeps and goes on with, or may: what it takes is told to whoever fetches it. */
function noteUnsettled({ unsettled, clock }: PolicyParts, call: ProxyCall, used: Used): void {
  const { answer, costMicroUsd, taken } = call;
  const dialect = call.dialect?.name ?? null;
  const isKept = dialect === 'openai-responses' || (dialect === null && isInteraction(call.path));
  if (!isKept || !call.wasTakenUp || !answer?.answer_id) return;
  if (answer.usage !== null || answer.finish !== null || answer.failed) return;
  unsettled.note(call.scope, answer.answer_id, {
    dialect,
    model: call.model,
    startedAtMs: call.startedAtMs,
    costMicroUsd,
    taken: taken && {
      ...taken,
      // By now it is counted, if it was not at first.
      takenAtMs: taken.takenAtMs ?? clock.nowMs(),
      tokens: tokensOf(used),
      costMicroUsd: costMicroUsd ?? taken.costMicroUsd ?? 0,
    },
  });
}

/**
 * What a fetched answer took comes in the place of what was counted for it, where that was taken. In the record the fetch costs what
 * had not been counted, less than nothing where that was too much, so that the two add up to what is paid.
 */
function settleFetched(
  parts: PolicyParts,
  call: ProxyCall,
  { costMicroUsd: counted, taken }: UnsettledAnswer,
): void {
  const usage = call.answer?.usage;
  if (!usage || !parts.unsettled.remove(call.scope, fetchedId(call) as string)) {
    // Neither usage nor calls of it are this fetch's, but of one before it, or to come.
    call.answer = null;
    return;
  }
  const used = byToken(usage);
  const cost = costOf(parts.prices, call, used);
  call.costMicroUsd = cost === null ? null : cost - (counted ?? 0);
  noteUnpriced(call, cost);
  if (taken !== null) giveBack(parts, call, taken, used);
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
  return policy === null ? undefined : takeLimits(parts, call, cappedKey, policy);
}

function takeLimits(
  parts: PolicyParts,
  call: ProxyCall,
  cappedKey: SessionKey | null,
  policy: AgentPolicy,
): Verdict | undefined | Promise<Verdict | undefined> {
  const estimate = estimateOf(call);
  const cost = costOf(parts.prices, call, estimate);
  // What no cap has counted from its beginning is read from the store, whole, once there is a cap.
  const isCounted = cappedKey !== null && (hasSessionCap(policy) || parts.caps.look(cappedKey) !== null);
  if (isCounted) {
    const decision = parts.caps.decide(cappedKey, policy, cost);
    if (!decision.allowed) return capped(decision.cap);
    parts.caps.record(cappedKey, cost);
  }
  const taken: TakenLimits = {
    policy,
    cappedKey: isCounted ? cappedKey : null,
    tokens: tokensOf(estimate),
    costMicroUsd: cost,
    nowMs: parts.clock.nowMs(),
    takenAtMs: null,
  };
  call.taken = taken;
  const all = windowsOf(call, taken);
  // An answer that is paid for can be fetched, and one that goes on be cancelled, however far a budget is overspent.
  const windows = estimate.paid === 'nothing' ? all.filter(({ amount }) => amount > 0) : all;
  if (windows.length === 0) return undefined;
  const { limiter } = parts;
  const applyTo = (decision: LimitDecision) => apply(parts, call, { windows, decision, taken });
  if (limiter instanceof MemoryRateLimiter) return applyTo(limiter.takeNow(windows));
  return limiter.take(windows).then(applyTo, (error: unknown) => {
    parts.onLimiterFailed(error);
    return undefined;
  });
}

/** What a call has used, or may use. */
interface Used {
  /** 0: no upstream had it, or one failed it before an answer. */
  requests: 0 | 1;
  usage: Readonly<Usage>;
  /** `unknown`: for something else than tokens, so that no price here says how much. */
  paid: 'nothing' | 'by_token' | 'unknown';
}

const NO_TOKENS: Readonly<Usage> = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};
const NOT_USED: Used = { requests: 0, usage: NO_TOKENS, paid: 'nothing' };
/** Answered from the cache, or for a list: it was a call, and took no tokens from anybody. */
const FREE: Used = { requests: 1, usage: NO_TOKENS, paid: 'nothing' };
const UNKNOWN: Used = { requests: 1, usage: NO_TOKENS, paid: 'unknown' };
const byToken = (usage: Usage): Used => ({ requests: 1, usage, paid: 'by_token' });

const tokensOf = ({ usage }: Used): number => usage.input_tokens + usage.output_tokens;

function estimateOf(call: ProxyCall): Used {
  if (call.unread?.takes === 'nothing') return FREE;
  if (call.unread?.takes === 'unknown') return UNKNOWN;
  return byToken(estimateUsage(bytesOf(call), outputTokensMax(call)));
}

/** Of a request that sets no bound a guess, for each of the answers that it asks for. */
function outputTokensMax({ summary, unread }: ProxyCall): number {
  const request = summary ?? unread;
  return request?.output_tokens_max ?? OUTPUT_TOKENS_ESTIMATE * (request?.choice_count ?? 1);
}

const windowsOf = (
  { scope }: ProxyCall,
  { policy, requests = 1, tokens, costMicroUsd, nowMs }: TakenLimits & { requests?: number },
): NamedWindow[] => limitWindows(scope, policy, { requests, tokens, costMicroUsd }, nowMs);

interface Answer {
  windows: readonly NamedWindow[];
  decision: LimitDecision;
  taken: TakenLimits;
}

function apply(
  { onOverBudget, onBudgetBegun }: PolicyParts,
  call: ProxyCall,
  { windows, decision, taken }: Answer,
): Verdict | undefined {
  call.answerHeaders = rateLimitHeaders(windows, decision);
  if (decision.refusedBy === null) {
    taken.takenAtMs = decision.atMs;
    for (const [at, { name, amount }] of windows.entries()) {
      const period = BUDGET_PERIODS[name];
      if (period !== undefined && amount > 0 && decision.windows[at]?.used === amount)
        onBudgetBegun(call, period);
    }
    return undefined;
  }
  const { name } = windows[decision.refusedBy] as NamedWindow;
  const period = BUDGET_PERIODS[name];
  if (period !== undefined) onOverBudget(call, period);
  const { used, limit } = decision.windows[decision.refusedBy] as WindowState;
  return limited(name, decision.retryAfterMs, used >= limit);
}

function usedBy(call: ProxyCall): Used {
  if (call.decision === 'cached') return FREE;
  const { summary, answer } = call;
  if (!call.wasTakenUp) return NOT_USED;
  if (summary === null)
    return call.isAnswered && answer?.usage && !call.unsettled ? byToken(answer.usage) : estimateOf(call);
  const tokensSeen = Math.ceil(charsOf(answer) / 4);
  // The end of one of several choices is not the answer's.
  const hasEnd = answer !== null && answer.finish !== null && (summary.choice_count ?? 1) === 1;
  if (call.isAnswered || hasEnd) {
    if (answer?.usage)
      return byToken(summary.stream ? soFar(answer, answer.usage, tokensSeen) : answer.usage);
    // An answer that says nothing at all, such as one of OpenAI's background mode, is no sign of what was used.
    if (hasEnd || tokensSeen > 0) return byToken(estimateUsage(bytesOf(call), tokensSeen));
  }
  // What the vendor said of usage so far, if anything, is not what it will charge.
  if (isBrokenOff(call) || (call.wasShutDown && tokensSeen > 0))
    return byToken(estimateUsage(bytesOf(call), tokensSeen));
  return byToken(estimateUsage(bytesOf(call), Math.max(tokensSeen, outputTokensMax(call))));
}

/** A stream that ends in the middle of its answer may have told of its output at the beginning alone: then what went by counts. */
const soFar = ({ finish }: LlmAnswer, usage: Usage, tokensSeen: number): Usage =>
  finish === null && usage.output_tokens < tokensSeen ? { ...usage, output_tokens: tokensSeen } : usage;

/** As far as it could be read. */
const charsOf = (answer: LlmAnswer | null): number =>
  (answer?.tool_calls ?? []).reduce(
    (chars, { name, arguments: json }) => chars + name.length + json.length,
    (answer?.text.length ?? 0) + (answer?.chars_beside ?? 0),
  );

/** By the upstream, in mid-answer, in which the agent has no part. Where no answer had begun, the status is our refusal's. */
const isBrokenOff = ({ decision, status }: ProxyCall): boolean =>
  decision === 'upstream_failed' && status >= 200 && status < 300;

/** As many as a text has that takes what the request takes. */
const bytesOf = ({ bodyBytes, summary }: ProxyCall): number => bodyBytes - (summary?.mediaExcessBytes ?? 0);

/** Micro-USD; null: the model has no price, or what was used. */
function costOf(prices: PolicyParts['prices'], call: ProxyCall, { usage, paid }: Used): number | null {
  if (paid === 'nothing') return 0;
  if (paid === 'unknown') return null;
  let cost = 0;
  for (const part of usageParts(usage)) {
    const price = priceOf(prices, call, lineOf(call, part.name));
    if (price === null) return null;
    cost += costMicroUsd(price, part.usage, usage.input_tokens);
  }
  return cost;
}

/** The same at the rate of text in the standard tier. */
function standardCostOf(
  prices: PolicyParts['prices'],
  call: ProxyCall,
  { usage, paid }: Used,
): number | null {
  const price = paid === 'by_token' ? priceOf(prices, call, '') : null;
  return price === null ? null : costMicroUsd(price, usage);
}

/** What came back names the model most exactly. */
const priceOf = (prices: PolicyParts['prices'], call: ProxyCall, line: string): ModelPrice | null =>
  prices.price(call.tenantId, call.answer?.model ?? null, line) ??
  prices.price(call.tenantId, call.model, line);

/** What stands in brackets behind the model's name: its tier, and what it is that it takes. */
const lineOf = ({ answer }: ProxyCall, part: string): string =>
  [answer?.service_tier ?? '', part].filter((word) => word !== '').join(' ');

/** Why nobody knows what it cost. */
function noteUnpriced(call: ProxyCall, cost: number | null): void {
  const { service_tier: tier, usage } = call.answer ?? {};
  if (cost !== null) return;
  const names = usage ? usageParts(usage).map(({ name }) => name) : [''];
  const lines = names.map((name) => lineOf(call, name)).filter((line) => line !== '');
  if (lines.length === 0) return;
  const what =
    tier === undefined ? 'Took tokens of sound or pictures' : `Answered in the service tier ${tier}`;
  call.detail ??= `${what}: its price is that of the model with ${lines.map((line) => `[${line}]`).join(', and with ')} behind its name.`;
}

/** Limits count what text in the standard tier costs where nobody knows the call's own price: a burst must not overrun them. */
function giveBack(
  { prices, caps, limiter, onLimiterFailed }: PolicyParts,
  call: ProxyCall,
  taken: TakenLimits,
  used: Used,
): void {
  const { requests } = used;
  const cost = costOf(prices, call, used) ?? standardCostOf(prices, call, used);
  if (taken.cappedKey !== null)
    caps.settle(taken.cappedKey, taken.costMicroUsd, { calls: requests, costMicroUsd: cost });
  const real = {
    requests,
    tokens: tokensOf(used),
    // Never known, it takes nothing; no longer known, what it was estimated at.
    costMicroUsd: cost ?? taken.costMicroUsd ?? 0,
  };
  // A call that went on because the limiter's store was silent is told of whole; one that the limiter refused has used nothing.
  const isCounted = taken.takenAtMs !== null;
  const windows = windowsOf(call, isCounted ? taken : { ...taken, ...NOTHING_TAKEN });
  const changes = corrections(windows, real, taken.takenAtMs ?? undefined);
  if (changes.length === 0) return;
  limiter.correct(changes).catch((error: unknown) => {
    // A store that is still away is told when it is back, with all that was spent without it.
    if (isCounted) onLimiterFailed(error);
  });
}
const NOTHING_TAKEN = { requests: 0, tokens: 0, costMicroUsd: 0 } as const;

/** A budget that was set while the call was under way began with what had been spent by then: the call's own cost comes on top. */
function chargeNewBudgets({ agents, limiter, onLimiterFailed }: PolicyParts, call: ProxyCall): void {
  const policy = agents.restriction(call.scope);
  const { taken, startedAtMs } = call.unsettled ?? call;
  if (policy === null || policy === taken?.policy || !call.costMicroUsd) return;
  const limits = budgetsSetSince(taken?.policy ?? NO_LIMITS, policy);
  const windows = limitWindows(call.scope, limits, NOTHING_TAKEN, startedAtMs);
  const changes = corrections(windows, { costMicroUsd: call.costMicroUsd }, startedAtMs);
  if (changes.length > 0) limiter.correct(changes).catch(onLimiterFailed);
}

const BUDGET_PERIODS: Partial<Record<LimitName, BudgetPeriod>> = {
  budget_hour: 'hour',
  budget_day: 'day',
  budget_month: 'month',
};

const CAPS: Record<SessionCap, string> = {
  session_calls_max: 'calls',
  session_cost_usd_max: 'cost',
  session_minutes_max: 'time',
};
const capped = (cap: SessionCap): Verdict =>
  policyRefusal(
    'session_capped',
    'session_capped',
    `This session has reached its cap on ${CAPS[cap]} (${cap}).`,
    null,
  );

const LIMITS_TEXT: Record<LimitName, string> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  budget_hour: 'the budget of an hour',
  budget_day: 'the budget of a day',
  budget_month: 'the budget of a month',
};
/** @param isUsedUp nothing is left; else the call may take more than is left, or, where no waiting helps, than there is at all */
const limited = (name: LimitName, retryAfterMs: number | null, isUsedUp: boolean): Verdict =>
  name === 'requests_per_minute' || name === 'tokens_per_minute'
    ? policyRefusal(
        'rate_limited',
        'rate_limited',
        retryAfterMs === null
          ? `This call may take more than this agent's limit of ${LIMITS_TEXT[name]}. ${BOUND_IT}`
          : `This agent has reached its limit of ${LIMITS_TEXT[name]}.`,
        retryAfterMs,
      )
    : policyRefusal(
        'over_budget',
        'budget_exceeded',
        isUsedUp
          ? `This agent has used up ${LIMITS_TEXT[name]}.`
          : `This call may cost more than is left of ${LIMITS_TEXT[name]}. ${BOUND_IT}`,
        retryAfterMs,
      );
const BOUND_IT = 'It may fit with a lower bound on its output.';
