/** One agent: a row of the table on a desktop, a card on a phone. Memoised on the view. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { AgentView } from '#contracts';
import { rowFocus } from '../../app/keyboard/use-row-focus';
import { Badge, CutMiddle, cx, formatCount, formatShare } from '../../ui';
import { BUDGET_SPANS, type BudgetSpan, KillMeter, SpendBar } from './agent-meters';
import { AgentState, HeldBadge } from './agent-state';
import { LastCall } from './last-call';
import { policySummary } from './policy-summary';
import { isKilled } from './select-agents';
import { SplitBadge } from './split-agent';

const cell = 'border-line border-b px-3';
/** The bar under a figure does not lift it above the other figures of its row. */
const metered = 'pt-2';
/** As their headings: beside them, the agent's name keeps its room. */
const SPANS_HIDDEN: Partial<Record<BudgetSpan, string>> = { hour: 'max-xl:hidden', month: 'max-lg:hidden' };
/** From here on, failures stand out. */
const ERROR_RATE_CALM_MAX = 0.1;

interface AgentRowProps {
  agent: AgentView;
  rowIndex: number;
  heightPx: number;
}

export const AgentRow = memo(function AgentRow({ agent, rowIndex, heightPx }: AgentRowProps) {
  return (
    <tr
      aria-rowindex={rowIndex}
      data-testid="agent-row"
      data-agent-id={agent.agent_id}
      style={{ height: heightPx }}
      className="relative hover:bg-hover"
    >
      <td className={cell}>
        <div className="flex min-w-0 items-center gap-2">
          {/* Its face covers the row: all of it can be clicked. */}
          <Link
            {...rowFocus}
            to="/agents/$agentId"
            params={{ agentId: agent.agent_id }}
            title={agent.agent_id}
            className="focus-inset min-w-0 font-medium text-base after:absolute after:inset-0"
          >
            <CutMiddle text={agent.agent_id} />
          </Link>
          <HeldBadge agent={agent} />
          <SplitBadge agent={agent} />
          <IncidentLink agent={agent} />
        </div>
        <PolicyLine agent={agent} />
      </td>
      <td className={cell}>
        <AgentState agent={agent} />
      </td>
      {BUDGET_SPANS.map((span) => (
        <td key={span} className={cx(cell, metered, 'text-right', SPANS_HIDDEN[span])}>
          <SpendBar agent={agent} span={span} />
        </td>
      ))}
      <td className={cx(cell, agent.kill_switch.enabled && metered)}>
        <KillMeter agent={agent} />
      </td>
      <td className={cx(cell, 'nums text-right max-lg:hidden')}>
        {formatCount(Math.round(agent.calls_per_minute))}
        {agent.running_call_count > 0 ? (
          <span className="block text-2xs text-accent">
            {formatCount(agent.running_call_count)} under way
          </span>
        ) : null}
      </td>
      <td className={cx(cell, 'nums text-right')}>
        <ErrorRate rate={agent.error_rate} />
        <RefusalRate rate={agent.refusal_rate} />
      </td>
      <td className={cx(cell, 'nums text-right text-muted max-xl:hidden')}>
        <LastCall agent={agent} short />
      </td>
    </tr>
  );
});

export const AgentCard = memo(function AgentCard({ agent }: { agent: AgentView }) {
  return (
    <article
      data-testid="agent-row"
      data-agent-id={agent.agent_id}
      className="relative flex h-full flex-col justify-center gap-2 rounded-lg border border-line bg-surface px-3"
    >
      <div className="flex items-center gap-2">
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.agent_id }}
          className="min-w-0 font-medium text-md after:absolute after:inset-0"
        >
          <CutMiddle text={agent.agent_id} />
        </Link>
        <span className="ml-auto flex shrink-0 items-center gap-1.5">
          <IncidentLink agent={agent} />
          <SplitBadge agent={agent} />
          <HeldBadge agent={agent} />
          <AgentState agent={agent} />
        </span>
      </div>
      <div className="grid grid-cols-3 gap-3">
        <SpendBar agent={agent} span="day" withName />
        <SpendBar agent={agent} span="month" withName />
        <span className="block min-w-0">
          <span className="block text-2xs text-muted">Kill switch</span>
          <KillMeter agent={agent} />
        </span>
      </div>
      <p className="nums flex gap-3 text-muted text-xs">
        <span>{formatCount(Math.round(agent.calls_per_minute))}/min</span>
        <span>
          errors <ErrorRate rate={agent.error_rate} />
        </span>
        <RefusalRate rate={agent.refusal_rate} />
        <span className="ml-auto">
          {agent.last_call_ms === null ? 'calls: ' : null}
          <LastCall agent={agent} />
        </span>
      </p>
    </article>
  );
});

export function ErrorRate({ rate }: { rate: number | null }) {
  if (rate === null) return <span className="text-faint">–</span>;
  return (
    <span className={cx(rate >= ERROR_RATE_CALM_MAX && 'font-semibold text-danger')}>
      {formatShare(rate)}
    </span>
  );
}

/** Nothing where nothing is limited. */
function PolicyLine({ agent }: { agent: AgentView }) {
  const summary = policySummary(agent.policy);
  if (summary === '') return null;
  return (
    <p title={summary} className="nums truncate text-2xs text-muted">
      <span className="sr-only">Policy: </span>
      {summary}
    </p>
  );
}

/** Under or beside the errors, which it is none of; nothing where nothing was refused. */
function RefusalRate({ rate }: { rate: number | null }) {
  if (!rate) return null;
  return <span className="block text-2xs text-warning">{formatShare(rate)} refused</span>;
}

/** Above the face of the row, so that it leads where it says. */
function IncidentLink({ agent }: { agent: AgentView }) {
  if (agent.open_incident_id === null) return null;
  return (
    <Link
      to="/incidents/$incidentId"
      params={{ incidentId: agent.open_incident_id }}
      aria-label={`Open the incident of ${agent.agent_id}`}
      className="relative z-[1] shrink-0"
    >
      <Badge tone={isKilled(agent) ? 'danger' : 'neutral'} className="hover:underline">
        Incident
      </Badge>
    </Link>
  );
}
