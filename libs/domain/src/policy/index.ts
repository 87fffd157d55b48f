export { applyPolicyPatch, defaultPolicy, isOfAll } from './agent-policy.js';
export { isWithinAllowedHours, nextAllowedMs } from './allowed-hours.js';
export { costMicroUsd, estimateUsage, OUTPUT_TOKENS_ESTIMATE, usageParts } from './cost.js';
export { DEFAULT_PRICES } from './default-prices.js';
export { findPrice } from './find-price.js';
export {
  BUDGETS,
  type BudgetName,
  budgetSeeds,
  budgetsSetSince,
  corrections,
  countAlike,
  LIMIT_NAMES,
  type LimitEstimate,
  type LimitName,
  limitWindows,
  type NamedWindow,
  type RealUsage,
  type SpentHour,
  toMicroUsd,
  UNKNOWN_COST_MICRO_USD,
} from './limit-windows.js';
export { MemoryRateLimiter, type MemoryRateLimiterOptions } from './memory-rate-limiter.js';
export { standForModel } from './model-names.js';
export { rateLimitHeaders } from './rate-limit-headers.js';
export {
  hasSessionCap,
  SESSION_IDLE_MS,
  type SessionCap,
  type SessionCapDecision,
  SessionCaps,
  type SessionCapsOptions,
  type SessionCharge,
  type SessionUse,
} from './session-caps.js';
export {
  CALENDAR_GRACE_MS,
  type Counted,
  checkAmount,
  checkWindow,
  describeDecision,
  SLOTS_PER_WINDOW,
  slidingLifeMs,
} from './slot-arithmetic.js';
