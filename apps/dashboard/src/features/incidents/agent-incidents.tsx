/** The incidents of one agent, for its page. */
import { Link } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { Callout, EmptyState, Panel, Skeleton } from '../../ui';
import { IncidentRow } from './incident-row';
import { useIncidents } from './use-incidents';

const SHOWN_MAX = 5;

export function AgentIncidents({ agentId }: { agentId: string }) {
  const { incidents, isLoading, failure, hasOlder } = useIncidents(agentId);
  return (
    <Panel
      title="Incidents"
      actions={
        incidents.length > SHOWN_MAX ? (
          <Link
            to="/incidents"
            search={{ agent: agentId }}
            className="font-medium text-accent text-xs hover:underline"
          >
            All {incidents.length}
            {hasOlder ? '+' : ''}
          </Link>
        ) : null
      }
      bodyClassName=""
    >
      {failure ? (
        <Callout tone="danger" className="m-3">
          {failure}
        </Callout>
      ) : null}
      {/* As high as what takes its place where the agent was never stopped. */}
      {isLoading ? <Skeleton className="m-3 h-39" /> : null}
      {!isLoading && !failure && incidents.length === 0 ? (
        <EmptyState
          icon={<ShieldCheck size={22} aria-hidden="true" />}
          title="Never stopped"
          className="py-8"
        >
          The kill switch has not fired for this agent.
        </EmptyState>
      ) : null}
      <ul className="@container divide-y divide-line">
        {incidents.slice(0, SHOWN_MAX).map((incident) => (
          <li key={incident.incident_id}>
            <IncidentRow incident={incident} hidesAgent />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
