/** Whether a rule's condition holds for an agent now, and the figures that say so. */
import {
  type AlertNotice,
  type BudgetPeriod,
  type PolicyBar,
  RULE_PERIOD_DEFAULT,
  RULE_SHARE_DEFAULT,
  RULE_WINDOW_S_DEFAULT,
} from '#contracts';
import type { AgentFacts } from './agent-facts.js';
import type { WaitEnd } from './alert-event.js';
import { REFUSAL } from './budget-share.js';
import type { CallTally } from './call-tally.js';
import { ERROR_CALLS_MIN, type RuleSettings } from './rule-defaults.js';

export type NoticeDetail = AlertNotice['detail'];

/** Named in a notice; how many there are is said besides. */
const NAMED_SESSIONS_MAX = 5;

/**
 * What may keep an agent silent: a call of its own under way (`busy`), its policy, the kill switch, or an operator who paused or
 * terminated the session it was last seen in.
 */
export type Hush = 'busy' | PolicyBar | 'paused' | 'terminated';

export interface Condition {
  /** `unknown`: nothing was heard that would decide it; what was firing goes on. */
  holds: boolean | 'unknown';
  session_id: string | null;
  detail: NoticeDetail;
  /**
   * Of each of them people hear, also while the rule fires for another one; absent: it speaks of the agent. Of `budget` the refusal,
   * of `kill_switch` the incident.
   */
  sessions?: { told: readonly string[]; untold: readonly string[] };
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));

export interface SpentUsd extends Readonly<Record<BudgetPeriod, number>> {
  /** What `hour` may be in truth: after a start, of the clock hour before, it is not known when in it that was spent. */
  hourAtMost: number;
}

export interface ConditionInput {
  rule: RuleSettings;
  facts: AgentFacts;
  /** Of this rule and agent; `error_rate` only. */
  tally: CallTally | null;
  /** Sessions, or the refusal, of which people heard. */
  toldSessionIds: ReadonlySet<string>;
  /** What the agent, or all together, have spent, in USD, as far as prices are known; asked by `spend` and `total_spend` only. */
  spentUsd: () => SpentUsd;
  /** Why its silence is wanted; null: it is not. */
  hush: Hush | null;
  /** It fires already. */
  isFiring: boolean;
  nowMs: number;
  /** The same by the steady clock, for all that lasts. */
  steadyMs: number;
}

export function readCondition(input: ConditionInput): Condition {
  const { rule, facts, tally, isFiring, nowMs, steadyMs } = input;
  switch (rule.type) {
    case 'kill_switch': {
      const { incident } = facts;
      if (incident === null) return { holds: false, session_id: null, detail: {} };
      const { incident_id, score, threshold, session_id } = incident;
      // No news by itself: it is kept with what fires, which is known by it from what fired for an earlier one.
      const sessions = { told: [incident_id], untold: [] };
      return { holds: true, session_id, detail: { incident_id, score, threshold }, sessions };
    }
    case 'entropy_loop':
      return entropyLoop(input);
    case 'semantic_loop':
      return semanticLoop(input);
    case 'hitl_required':
      return waitsForPerson(input);
    case 'budget': {
      const fullest = facts.fullestBudget(nowMs);
      if (fullest === 'unknown') return { holds: 'unknown', session_id: null, detail: {} };
      if (fullest === null) return { holds: false, session_id: null, detail: {} };
      const { period, spent_usd, budget_usd, share, refused } = fullest;
      const threshold = rule.threshold ?? RULE_SHARE_DEFAULT.budget;
      return {
        // Whoever is refused has nothing left that is of use, whatever the share.
        holds: refused || share >= threshold,
        session_id: null,
        detail: {
          period,
          spent_usd: round(spent_usd, 6),
          budget_usd,
          share: round(share, 4),
          threshold,
          refused,
        },
        sessions: apart(refused ? [REFUSAL] : [], input.toldSessionIds),
      };
    }
    case 'spend':
    case 'total_spend': {
      const { threshold_usd, period: chosen } = rule;
      const period = chosen ?? RULE_PERIOD_DEFAULT;
      const spent = input.spentUsd();
      const spent_usd = spent[period];
      const atMostUsd = period === 'hour' ? spent.hourAtMost : spent_usd;
      return {
        holds:
          threshold_usd !== null && (spent_usd >= threshold_usd || (atMostUsd >= threshold_usd && 'unknown')),
        session_id: null,
        detail: { period, spent_usd: round(spent_usd, 6), threshold_usd },
      };
    }
    case 'error_rate':
      return errorRate(rule, tally, isFiring, steadyMs);
    case 'agent_silent':
      return agentSilent(input);
  }
}

const apart = (ids: readonly string[], toldIds: ReadonlySet<string>) => ({
  told: ids.filter((id) => toldIds.has(id)),
  untold: ids.filter((id) => !toldIds.has(id)),
});

/** Sessions in the order in which it began with them, those apart of which people heard. */
function tellApart(
  began: readonly string[],
  toldSessionIds: ReadonlySet<string>,
  countName: 'loop_session_count' | 'waiting_session_count' = 'loop_session_count',
) {
  const sessions = apart(began, toldSessionIds);
  const { told, untold } = sessions;
  // What is told already is older, whatever order it was found in after a restart.
  const newest = [...told, ...untold].slice(-NAMED_SESSIONS_MAX).reverse();
  const detail: NoticeDetail = {
    [countName]: began.length,
    new_session_count: untold.length,
    newest_session_ids: newest,
  };
  return { newestId: newest[0] ?? null, detail, sessions };
}

/** It is over when no session loops any more. */
function entropyLoop({ facts, toldSessionIds, steadyMs }: ConditionInput): Condition {
  const looping = facts.loopingSessions(steadyMs);
  const { newestId, detail, sessions } = tellApart(looping, toldSessionIds);
  return { holds: looping.length > 0, session_id: newestId, detail, sessions };
}

/** Of those that end by themselves the first; undefined: none does. */
const firstEnd = (ends: Iterable<WaitEnd>): WaitEnd | undefined =>
  [...ends]
    .filter(({ expires_at_ms }) => expires_at_ms !== null)
    .sort((a, b) => Number(a.expires_at_ms) - Number(b.expires_at_ms))[0];

/** It is over when somebody came, or the wait is over, in every session. */
function waitsForPerson({ facts, toldSessionIds }: ConditionInput): Condition {
  const { waitingSessions } = facts;
  const waiting = [...waitingSessions.keys()];
  const { newestId, detail, sessions } = tellApart(waiting, toldSessionIds, 'waiting_session_count');
  const first = firstEnd(waitingSessions.values());
  return { holds: waiting.length > 0, session_id: newestId, detail: { ...detail, ...first }, sessions };
}

/** A loop is a moment; it is over when none followed. One from before a restart goes on until then, without figures. */
function semanticLoop({ rule, facts, toldSessionIds, steadyMs }: ConditionInput): Condition {
  const windowS = rule.window_s ?? RULE_WINDOW_S_DEFAULT.semantic_loop;
  const isRecent = (loopMs: number | null) => loopMs !== null && steadyMs - loopMs < windowS * 1_000;
  const looping = facts.semanticLoops(windowS * 1_000, steadyMs);
  const { newestId, detail, sessions } = tellApart([...looping.keys()], toldSessionIds);
  const latest = facts.semanticLoop;
  if (latest === null)
    return {
      holds: isRecent(facts.recalledLoopSteadyMs) ? 'unknown' : false,
      session_id: null,
      detail: {},
      sessions,
    };
  const newest = newestId === null ? null : looping.get(newestId)?.figures;
  const { similarity, threshold, occurrence, paused, session_id } = newest ?? latest;
  return {
    holds: isRecent(facts.semanticLoopSteadyMs),
    session_id,
    detail: { ...detail, similarity: round(similarity, 4), threshold, occurrence, paused, window_s: windowS },
    sessions,
  };
}

/** It is over when the agent is heard of, or somebody wants it silent: who stopped it need not be told that it is still. */
function agentSilent({ rule, facts, hush, steadyMs }: ConditionInput): Condition {
  const windowS = rule.window_s ?? RULE_WINDOW_S_DEFAULT.agent_silent;
  const { seenAtMs } = facts;
  if (hush === 'busy' || (seenAtMs === null && hush === null))
    return { holds: 'unknown', session_id: null, detail: {} };
  const silentS = Math.floor((steadyMs - facts.seenSteadyMs) / 1_000);
  const isHeard = silentS < windowS;
  if (!isHeard && hush !== null) return { holds: false, session_id: null, detail: { kept_silent_by: hush } };
  const mutedSinceMs = Math.max(facts.watchedSteadyMs, facts.hushedSteadyMs);
  const isHeardOut = steadyMs - mutedSinceMs >= windowS * 1_000;
  return {
    holds: isHeard ? false : isHeardOut || 'unknown',
    session_id: null,
    detail: { silent_s: silentS, window_s: windowS, last_seen_ms: seenAtMs },
  };
}

function errorRate(
  rule: RuleSettings,
  tally: CallTally | null,
  isFiring: boolean,
  steadyMs: number,
): Condition {
  const threshold = rule.threshold ?? RULE_SHARE_DEFAULT.error_rate;
  if (tally === null) return { holds: 'unknown', session_id: null, detail: {} };
  const { callCount, failureCount } = tally.read(steadyMs);
  // Of calls before a restart, or in a window of another length, nobody knows until this one is over or enough came since.
  if (callCount < ERROR_CALLS_MIN && !tally.isWhole(steadyMs))
    return { holds: 'unknown', session_id: null, detail: {} };
  const share = callCount === 0 ? 0 : failureCount / callCount;
  // Once it fires, fewer calls go on counting; without any, nothing fails any more.
  const isEnough = callCount >= ERROR_CALLS_MIN || (isFiring && callCount > 0);
  return {
    holds: isEnough && share >= threshold,
    session_id: null,
    detail: {
      share: round(share, 4),
      threshold,
      call_count: callCount,
      failure_count: failureCount,
      window_s: rule.window_s ?? RULE_WINDOW_S_DEFAULT.error_rate,
    },
  };
}
