/** Which agents are shown, and in which order. Pure. */
import { type AgentView, KILL_SWITCH_ACTOR, RULE_SHARE_DEFAULT } from '#contracts';
import { METER_WARNS_AT } from '../../ui/meter';
import type { AgentSort, AgentsSearch } from './agents-search';

/** Stopped by the kill switch and not by a person. */
export const isKilled = ({ policy }: Pick<AgentView, 'policy'>): boolean =>
  !policy.active && policy.deactivated_by === KILL_SWITCH_ACTOR;

const shareOf = (value: number, limit: number | null): number =>
  limit === null || limit <= 0 ? 0 : value / limit;

/** The fullest of an agent's budgets, 0 without any. */
export const budgetShare = ({ spend }: Pick<AgentView, 'spend'>): number =>
  Math.max(
    ...[spend.hour, spend.day, spend.month].map(({ spent_usd, budget_usd }) =>
      shareOf(spent_usd, budget_usd),
    ),
  );

/** The longest of its budgets of which nothing is left; null: none, or it may not call anyway. */
export const spentBudget = ({
  policy,
  spend,
}: Pick<AgentView, 'policy' | 'spend'>): keyof AgentView['spend'] | null =>
  (policy.active &&
    (['month', 'day', 'hour'] as const).find(
      (span) => shareOf(spend[span].spent_usd, spend[span].budget_usd) >= 1,
    )) ||
  null;

/** How near the kill switch is to firing, 0..; 0 while it is off. */
export const killShare = ({ kill_switch }: Pick<AgentView, 'kill_switch'>): number =>
  kill_switch.enabled ? shareOf(kill_switch.live_score ?? 0, kill_switch.threshold) : 0;

/**
 * Its latest call was refused, and nobody has changed what it may do since.
 *
 * @param allChangedMs when somebody changed what all agents may do together, or let them run
 */
export const isRefused = (
  { policy, last_call_ms, latest_refusal }: Pick<AgentView, 'policy' | 'last_call_ms' | 'latest_refusal'>,
  allChangedMs = 0,
): boolean =>
  latest_refusal !== null &&
  latest_refusal.at_ms === last_call_ms &&
  latest_refusal.at_ms >= Math.max(policy.updated_at_ms ?? 0, allChangedMs);

/** None of its calls has ended yet, but one is on its way, or held. */
export const isFirstUnderWay = (
  agent: Pick<AgentView, 'last_call_ms' | 'running_call_count' | 'held_call_count'>,
): boolean => agent.last_call_ms === null && agent.running_call_count + agent.held_call_count > 0;

/** It may call, and its calls fail: from the share on that a rule speaks of unless it says another. */
export const isFailing = ({ policy, error_rate }: Pick<AgentView, 'policy' | 'error_rate'>): boolean =>
  policy.active && error_rate !== null && error_rate >= RULE_SHARE_DEFAULT.error_rate;

const isNearLimit = (agent: AgentView): boolean =>
  agent.policy.active && Math.max(budgetShare(agent), killShare(agent)) >= METER_WARNS_AT;

/** 0 wants somebody most. */
function attentionRank(agent: AgentView, allChangedMs: number): number {
  if (isKilled(agent) && agent.open_incident_id !== null) return 0;
  if (agent.held_call_count > 0) return 1;
  if (isFailing(agent) || isNearLimit(agent) || (agent.policy.active && isRefused(agent, allChangedMs)))
    return 2;
  return agent.policy.active ? 3 : 4;
}

function matchesAgent(agent: AgentView, { q, state }: AgentsSearch, allChangedMs: number): boolean {
  if (q && !agent.agent_id.toLowerCase().includes(q.trim().toLowerCase())) return false;
  if (state === 'active') return agent.policy.active;
  if (state === 'inactive') return !agent.policy.active;
  if (state === 'held') return agent.held_call_count > 0;
  if (state === 'failing') return isFailing(agent);
  if (state === 'refused') return isRefused(agent, allChangedMs);
  return state !== 'near_limit' || isNearLimit(agent);
}

const compare: Record<AgentSort, (a: AgentView, b: AgentView, allChangedMs: number) => number> = {
  attention: (a, b, allChangedMs) =>
    attentionRank(a, allChangedMs) - attentionRank(b, allChangedMs) ||
    (b.last_call_ms ?? 0) - (a.last_call_ms ?? 0),
  name: () => 0,
  spend: (a, b) => b.spend.month.spent_usd - a.spend.month.spent_usd,
  rate: (a, b) => b.calls_per_minute - a.calls_per_minute,
  last_call: (a, b) => (b.last_call_ms ?? 0) - (a.last_call_ms ?? 0),
};

/** Ids of the agents that match, in order; equals by name. @param allChangedMs as of `isRefused` */
export function selectAgents(agents: Iterable<AgentView>, search: AgentsSearch, allChangedMs = 0): string[] {
  const chosen = [...agents].filter((agent) => matchesAgent(agent, search, allChangedMs));
  const by = compare[search.sort ?? 'attention'];
  return chosen
    .sort((a, b) => by(a, b, allChangedMs) || a.agent_id.localeCompare(b.agent_id))
    .map(({ agent_id }) => agent_id);
}
