/**
 * Step 3: may this agent run, now, this much? What a call will use is estimated and taken before it is sent, so that a
 * burst cannot overrun a budget; what it really used is put in its place afterwards, and a failed call gives all back.
 */
import {
  type AgentPolicy,
  agentScope,
  type CallDecision,
  type ErrorCode,
  type LimitDecision,
  type RateLimiter,
  type Usage,
} from '#contracts';
import {
  corrections,
  costMicroUsd,
  estimateUsage,
  isWithinAllowedHours,
  type LimitName,
  limitWindows,
  type NamedWindow,
  nextAllowedMs,
  rateLimitHeaders,
  type SessionCaps,
} from '#domain/policy';
import type { Clock } from '#kernel';
import type { AgentDirectory } from '../agent-directory.js';
import type { PriceBook } from '../price-book.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import type { Step } from '../step.js';

export interface PolicyParts {
  agents: Pick<AgentDirectory, 'restriction'>;
  prices: Pick<PriceBook, 'price'>;
  limiter: RateLimiter;
  caps: SessionCaps;
  clock: Clock;
  /** The limiter's store cannot be reached: the call goes on, counted. */
  onLimiterFailed: (error: unknown) => void;
}

export const policyStep = (parts: PolicyParts): Step => ({
  name: 'policy',
  onFailure: 'closed',
  run(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
    const policy = parts.agents.restriction(agentScope(call.tenantId, call.agentId));
    if (policy === null) return undefined;
    const nowMs = parts.clock.nowMs();
    if (!policy.active) return inactive(policy);
    if (policy.allowed_hours !== null && !isWithinAllowedHours(policy.allowed_hours, nowMs)) {
      const nextMs = nextAllowedMs(policy.allowed_hours, nowMs);
      return {
        ...OUTSIDE_HOURS,
        ...(nextMs !== null && { retryAfterSeconds: (nextMs - nowMs) / 1_000 }),
      };
    }
    return takeLimits(parts, call, policy, nowMs);
  },
  settle(call: ProxyCall): void {
    const { prices, limiter, caps } = parts;
    const usage = settledUsage(call);
    const price = prices.price(call.tenantId, call.answer?.model ?? call.request?.model ?? null) ?? prices.price(call.tenantId, call.request?.model ?? null);
    call.costMicroUsd = usage === null ? (call.wasSent && call.request !== null ? null : 0) : price === null ? null : costMicroUsd(price, usage);
    const { taken } = call;
    if (taken === null) return;
    const real = { tokens: usage === null ? 0 : usage.input_tokens + usage.output_tokens, costMicroUsd: call.costMicroUsd ?? 0 };
    if (call.sessionKey !== null) caps.settle(call.sessionKey, taken.estimate, { ...real, calls: usage === null ? 0 : 1 });
    const changes = corrections(taken.windows, real);
    if (changes.length > 0) limiter.correct(changes).catch(parts.onLimiterFailed);
  },
});
