import { type AgentPolicy, type AgentScope, allAgents, type BudgetPeriod, type SessionKey } from '#contracts';
import { isOfAll, type LimitName, limitWindows, type NamedWindow } from '#domain/policy';

/**
 * What was taken for a call before it was sent: enough to name the same windows again when they are corrected. The windows
 * themselves are ten times as large, and a held call would keep them.
 */
export interface TakenLimits {
  policy: AgentPolicy;
  /** Whose caps counted it; null: none. */
  cappedKey: SessionKey | null;
  tokens: number;
  costMicroUsd: number | null;
  /** Of the gateway's clock, when the windows were named. */
  nowMs: number;
  /** `LimitDecision.atMs`; null: from no window, since none is set, one refused, or the limiter's store was silent. */
  takenAtMs: number | null;
  /** The limiter has been asked, and has not answered yet. */
  isAsked?: boolean;
  /** Meanwhile it was told of budgets as if it had let the call take of them. */
  isTold?: boolean;
  /** Of the gateway's clock, when the limiter was told of it whole, since its store was silent at first; absent: it was not. */
  toldAtMs?: number;
}

/** Of a call, or of an answer that its vendor keeps. */
export interface TakenFor {
  /** Of its agent's limits; null: it has none. */
  taken: TakenLimits | null;
  /** Of those of all agents together. Absent from what an earlier build kept. */
  takenTogether?: TakenLimits | null;
}

const NOTHING: readonly TakenLimits[] = [];

export const allTaken = ({ taken, takenTogether }: TakenFor): readonly TakenLimits[] =>
  taken === null && !takenTogether
    ? NOTHING
    : [taken, takenTogether].filter((one): one is TakenLimits => Boolean(one));

/** When what a call costs was spent, epoch ms: when it was taken, which its body may have held up until the next day. */
export const spentAtMs = ({
  taken,
  takenTogether,
  startedAtMs,
}: TakenFor & { startedAtMs: number }): number => taken?.nowMs ?? takenTogether?.nowMs ?? startedAtMs;

interface Caller {
  scope: AgentScope;
  tenantId: string;
}

/** Whose windows and budgets a policy's are, of those that a call takes from. */
export const limitedScope = ({ scope, tenantId }: Caller, policy: AgentPolicy): AgentScope =>
  isOfAll(policy) ? allAgents(tenantId) : scope;

/** Those that were taken from, or that may be. */
export const windowsOf = (
  call: Caller,
  { policy, requests = 1, tokens, costMicroUsd, nowMs }: TakenLimits & { requests?: number },
): NamedWindow[] =>
  limitWindows(limitedScope(call, policy), policy, { requests, tokens, costMicroUsd }, nowMs);

/** Absent of what is no budget. */
export const PERIOD_OF_LIMIT: Partial<Record<LimitName, BudgetPeriod>> = {
  budget_hour: 'hour',
  budget_day: 'day',
  budget_month: 'month',
};
