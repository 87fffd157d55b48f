/** "Deactivated by ana, 12 s ago · Maintenance": for every operator who looks, at once, on the pages of agent and session. */
import type { AgentView } from '#contracts';
import { TextLink } from '../../app/text-link';
import { RelativeTime } from '../../ui';
import { NotStoredYet } from './not-stored-yet';
import { isKilled } from './select-agents';

interface StoppedByProps {
  /** One that may not call. */
  agent: AgentView;
  /** Begins with the agent, and leads to it where no incident does: of a page that is another thing's. */
  namesAgent?: boolean;
}

export function StoppedBy({ agent, namesAgent = false }: StoppedByProps) {
  const { deactivated_by, deactivated_at_ms, deactivated_reason } = agent.policy;
  const killed = isKilled(agent);
  const stopped = killed ? 'Stopped' : 'Deactivated';
  return (
    <>
      <span className="font-medium">
        {namesAgent ? `Its agent was ${stopped.toLowerCase()}` : stopped} by{' '}
        {killed ? 'the kill switch' : (deactivated_by ?? 'somebody')}
      </span>
      {deactivated_at_ms === null ? null : (
        <>
          , <RelativeTime atMs={deactivated_at_ms} />
        </>
      )}
      {deactivated_reason ? (
        <span className="text-muted">
          {' · '}
          <bdi>{deactivated_reason}</bdi>
        </span>
      ) : null}
      <NotStoredYet isStored={agent.is_stop_stored} />
      {agent.open_incident_id === null ? null : (
        <>
          {' · '}
          <TextLink to="/incidents/$incidentId" params={{ incidentId: agent.open_incident_id }}>
            See the evidence
          </TextLink>
        </>
      )}
      {namesAgent && agent.open_incident_id === null ? (
        <>
          {' · '}
          <TextLink to="/agents/$agentId" params={{ agentId: agent.agent_id }}>
            Open the agent
          </TextLink>
        </>
      ) : null}
    </>
  );
}
