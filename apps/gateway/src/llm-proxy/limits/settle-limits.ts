/**
 * What a call really used, put in the place of what was taken for it before it was sent. A call that fails before an answer gives
 * all back, one whose answer the upstream, or the gateway's end, breaks off all but its prompt and what went by. Who hangs up
 * on an upstream at work has used what was estimated: leaving early must not be a way around a limit.
 */
import {
  type AgentPolicy,
  type BucketChange,
  type DocumentChange,
  NO_LIMITS,
  type RateLimiter,
  sessionKey,
  tokensOf,
} from '#contracts';
import { fetchedAnswerId } from '#domain/llm-dialects';
import {
  budgetsSetSince,
  corrections,
  limitWindows,
  type NamedWindow,
  type SessionCaps,
} from '#domain/policy';
import type { Clock } from '#kernel';
import type { AgentDirectory } from '../agents/agent-directory.js';
import type { UnsettledAnswer, UnsettledAnswers } from '../calls/unsettled-answers.js';
import type { ProxyCall } from '../proxy-call.js';
import { costOf, noteUnpriced, standardCostOf } from './cost-of-call.js';
import type { EarlierUse } from './earlier-use.js';
import type { PriceBook } from './price-book.js';
import {
  allTaken,
  limitedScope,
  PERIOD_OF_LIMIT,
  spentAtMs,
  type TakenLimits,
  windowsOf,
} from './taken-limits.js';
import { byToken, NOT_USED, type Used, usedBy } from './used-by-call.js';

export interface SettleLimitsParts {
  agents: Pick<AgentDirectory, 'restriction' | 'restrictionOfAll'>;
  prices: Pick<PriceBook, 'price'>;
  limiter: RateLimiter;
  caps: SessionCaps;
  earlierUse: Pick<EarlierUse, 'noteUncounted'>;
  unsettled: UnsettledAnswers;
  clock: Clock;
  /** The limiter's store cannot be reached: the call goes on, counted. */
  onLimiterFailed: (error: unknown) => void;
  /** What a call took of budgets, and did not use: the limiter's store cannot be told. */
  onNotGivenBack: (changes: readonly BucketChange[]) => void;
}

export function settleLimits(parts: SettleLimitsParts, call: ProxyCall): void {
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
}

/** Of a call that goes nowhere yet: as if it had not come. */
export function giveBackAll(parts: SettleLimitsParts, call: ProxyCall): void {
  for (const taken of allTaken(call)) giveBack(parts, call, taken, NOT_USED, 0);
  call.taken = null;
  call.takenTogether = null;
}

/**
 * Tells the limiter, and nobody waits for it.
 * @param owed what its store is to be told once it can be reached, as far as it gives back of budgets; all changes unless given
 */
export function correct(
  { limiter, onLimiterFailed, onNotGivenBack }: SettleLimitsParts,
  changes: readonly BucketChange[],
  nowMs: number | undefined,
  owed = () => changes,
): void {
  if (changes.length === 0) return;
  limiter.correct(changes, nowMs).catch((error: unknown) => {
    onLimiterFailed(error);
    onNotGivenBack(owed().filter(({ amount }) => amount < 0));
  });
}

/** Of an answer that its vendor keeps, which the call asks for; null: it asks for something else. */
export const fetchedId = ({ incoming, path }: ProxyCall): string | null =>
  fetchedAnswerId(incoming.method as string, path);

/** Stored with the call's record, or not at all: one without the other would count twice, or never. */
const withRecordOf =
  (call: ProxyCall) =>
  (change: DocumentChange): void => {
    call.documents = change;
  };

/** An answer that its vendor keeps and goes on with, or may: what it takes is told to whoever fetches it. */
function noteUnsettled({ unsettled, prices, clock }: SettleLimitsParts, call: ProxyCall, used: Used): void {
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
function settleFetched(parts: SettleLimitsParts, call: ProxyCall, unsettled: UnsettledAnswer): void {
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
 * Limits count what text in the standard tier costs where nobody knows the call's own price: a burst must not overrun them. Of what has no
 * price at all they count nothing, as its record does: also where its model has lost it since the call began.
 */
const limitedCostOf = (
  prices: SettleLimitsParts['prices'],
  call: ProxyCall,
  used: Used,
  ownCost: number | null,
): number => ownCost ?? standardCostOf(prices, call, used) ?? 0;

function giveBack(
  parts: SettleLimitsParts,
  call: ProxyCall,
  taken: TakenLimits,
  used: Used,
  ownCost: number | null,
): void {
  const { prices, caps, limiter, clock } = parts;
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
  if (isCounted) {
    const owed = () => corrections(windows.filter(isOfBudget), real, takenAtMs ?? toldAtMs);
    correct(parts, changes, toldAtMs === undefined ? undefined : clock.nowMs(), owed);
  } else if (changes.length > 0) {
    // A store that is still away is told when it is back, with all that was spent without it.
    limiter.correct(changes).catch(() => {});
  }
}

const isOfBudget = ({ name }: NamedWindow): boolean => PERIOD_OF_LIMIT[name] !== undefined;
const NOTHING_TAKEN = { requests: 0, tokens: 0, costMicroUsd: 0 } as const;

/** A budget that was set while the call was under way began with what had been spent by then: the call's own cost comes on top. */
function chargeNewBudgets(parts: SettleLimitsParts, call: ProxyCall): void {
  const { agents, clock } = parts;
  const { costMicroUsd } = call;
  if (!costMicroUsd) return;
  const spent = call.unsettled ?? call;
  const spentMs = spentAtMs(spent);
  const charge = (policy: AgentPolicy | null, before: TakenLimits | null | undefined): void => {
    if (policy === null || policy === before?.policy) return;
    const limits = budgetsSetSince(before?.policy ?? NO_LIMITS, policy);
    const windows = limitWindows(limitedScope(call, policy), limits, NOTHING_TAKEN, spentMs);
    // Less than nothing of a fetched answer that took less than what had been counted.
    correct(parts, corrections(windows, { costMicroUsd }, spentMs), clock.nowMs());
  };
  charge(agents.restriction(call.scope), spent.taken);
  charge(agents.restrictionOfAll(call.tenantId), spent.takenTogether);
}

/** A cap that was set while the call was under way began with the session's records, where the call was not yet. */
function countInNewCaps(
  { caps, earlierUse }: SettleLimitsParts,
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
