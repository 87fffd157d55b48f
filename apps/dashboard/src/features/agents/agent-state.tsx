/** Whether an agent may call, and if not, who stopped it; of one that may, why its calls are or will be refused, or that they fail. */
import { Ban, OctagonX, ShieldAlert, TriangleAlert } from 'lucide-react';
import type { AgentView } from '#contracts';
import { useOfTopic } from '../../realtime';
import { Badge, formatCost, formatShare, plural, RelativeTime } from '../../ui';
import { DECISIONS } from '../calls/decision-texts';
import { SPAN_LABELS } from './agent-meters';
import { isFailing, isKilled, isRefused, spentBudget } from './select-agents';
import { useAllChangedMs } from './use-all-changed';

export function AgentState({ agent }: { agent: AgentView }) {
  const isAllStopped = useOfTopic('gateway:all_agents', (all) => all?.policy.active === false);
  const allChangedMs = useAllChangedMs();
  const { active, deactivated_by, deactivated_reason } = agent.policy;
  // Those of its calls that are refused meanwhile are so with all the others.
  const isRefusedAlone = active && !isAllStopped && isRefused(agent, allChangedMs);
  if (isRefusedAlone && agent.latest_refusal !== null) {
    const { decision, detail } = agent.latest_refusal;
    const { label, tone, text } = DECISIONS[decision];
    return (
      <Badge
        tone={tone}
        data-testid="agent-state"
        data-state="refused"
        title={`Its latest call was refused: ${detail ?? text}`}
        icon={<ShieldAlert size={11} aria-hidden="true" />}
      >
        {label}
      </Badge>
    );
  }
  const spent = spentBudget(agent);
  if (spent !== null) {
    const { label, tone } = DECISIONS.over_budget;
    const { spent_usd, budget_usd } = agent.spend[spent];
    return (
      <Badge
        tone={tone}
        data-testid="agent-state"
        data-state="over_budget"
        title={`It has spent its budget. ${SPAN_LABELS[spent]}: ${formatCost(spent_usd)} of ${formatCost(budget_usd)}`}
        icon={<ShieldAlert size={11} aria-hidden="true" />}
      >
        {label}
      </Badge>
    );
  }
  if (isFailing(agent)) {
    return (
      <Badge
        tone="danger"
        data-testid="agent-state"
        data-state="failing"
        title={`${formatShare(agent.error_rate ?? 0)} of its calls of the last five minutes failed`}
        icon={<TriangleAlert size={11} aria-hidden="true" />}
      >
        Failing
      </Badge>
    );
  }
  if (active && isAllStopped) {
    return (
      <Badge
        data-testid="agent-state"
        data-state="all_stopped"
        title="It may call, once the calls of all agents are let through again"
        icon={<Ban size={11} aria-hidden="true" />}
      >
        All stopped
      </Badge>
    );
  }
  if (active) {
    return (
      <Badge tone="success" data-testid="agent-state" data-state="active">
        Active
      </Badge>
    );
  }
  const killed = isKilled(agent);
  return (
    <Badge
      tone={killed ? 'danger' : 'neutral'}
      data-testid="agent-state"
      data-state={killed ? 'killed' : 'inactive'}
      title={deactivated_reason ?? undefined}
      icon={killed ? <OctagonX size={11} aria-hidden="true" /> : <Ban size={11} aria-hidden="true" />}
      className="max-w-full"
    >
      <span className="truncate">{killed ? 'Killed' : `Off · ${deactivated_by ?? 'unknown'}`}</span>
    </Badge>
  );
}

/** "3 held, 12 s": calls that wait for an operator. Draws nothing when none does. */
export function HeldBadge({ agent }: { agent: Pick<AgentView, 'held_call_count' | 'held_since_ms'> }) {
  if (agent.held_call_count === 0) return null;
  return (
    <Badge tone="paused" title={`${plural(agent.held_call_count, 'call')} held for an operator`}>
      {agent.held_call_count} held
      {agent.held_since_ms === null ? null : <RelativeTime atMs={agent.held_since_ms} short />}
    </Badge>
  );
}
