/** One incident: who was stopped and why, the evidence request by request, and the way back. */
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Incident } from '#contracts';
import { BackLink } from '../../app/back-link';
import { isOpenIncident } from '../../app/stopped-agents';
import { TextLink } from '../../app/text-link';
import { LoadingThing, MissingThing } from '../../app/thing-page';
import { useBack } from '../../app/use-back';
import { useChangeSearch } from '../../app/use-change-search';
import { useTopic } from '../../realtime';
import { cx, FactInLine, Identifier, RelativeTime, withUnseen } from '../../ui';
import { ReactivateButton } from '../agents/reactivate-button';
import { EvidencePanel } from './evidence-panel';
import { IncidentState } from './incident-row';
import type { IncidentSearch } from './incidents-search';
import { ScorePanel } from './score-panel';
import { useIncident } from './use-incidents';

const route = getRouteApi('/shell/incidents/$incidentId');

export function IncidentPage() {
  const { incidentId } = route.useParams();
  const { all = false } = route.useSearch();
  const change = useChangeSearch<IncidentSearch>();
  const { incident, failure } = useIncident(incidentId);
  useBack('/incidents');
  if (incident) {
    return (
      <div className="flex h-full flex-col overflow-y-auto not-print:[container-type:size]">
        <IncidentHeader incident={incident} />
        <div className="flex flex-col gap-3 p-3">
          <ScorePanel incident={incident} />
          <EvidencePanel
            incident={incident}
            showsAll={all}
            onShowAll={(showsAll) => change({ all: showsAll || undefined })}
          />
        </div>
      </div>
    );
  }
  if (failure) {
    return (
      <MissingThing noun="incident" id={incidentId} failure={failure} to="/incidents" listName="incidents" />
    );
  }
  return <LoadingThing title="Incident" />;
}

function IncidentHeader({ incident }: { incident: Incident }) {
  const isOpen = isOpenIncident(incident);
  return (
    <header
      className={cx(
        'flex flex-col gap-2 border-line border-b bg-surface px-4 py-3',
        isOpen && 'border-t-2 border-t-danger-solid',
      )}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <BackLink to="/incidents" listName="incidents" />
        <h1 className="min-w-0 font-semibold text-lg [overflow-wrap:anywhere]">
          {withUnseen(incident.agent_id)} <span className="font-normal text-muted">was stopped</span>
        </h1>
        <IncidentState incident={incident} />
        <div className="ml-auto min-w-0 max-md:ml-0 max-md:w-full">
          <Reactivation incident={incident} />
        </div>
      </div>
      <p role="status" className={isOpen ? 'sr-only' : 'text-success'}>
        {isOpen || incident.reactivated_at_ms === null ? (
          ''
        ) : (
          <>
            <span className="font-medium">Reactivated by {incident.reactivated_by ?? 'somebody'}</span>,{' '}
            <RelativeTime atMs={incident.reactivated_at_ms} />
          </>
        )}
      </p>
      {isOpen ? <StillRefused agentId={incident.agent_id} /> : null}
      <dl className="flex flex-wrap items-center gap-x-6 gap-y-1 text-xs">
        <FactInLine name="Agent">
          <Link
            to="/agents/$agentId"
            params={{ agentId: incident.agent_id }}
            className="text-accent hover:underline"
          >
            {withUnseen(incident.agent_id)}
          </Link>
        </FactInLine>
        <FactInLine name="Session">
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: incident.session_id }}
            className="text-accent hover:underline"
          >
            <Identifier id={incident.session_id} charsMax={26} copyable={false} />
          </Link>
        </FactInLine>
        <FactInLine name="Model">{incident.model ?? 'not named'}</FactInLine>
        <FactInLine name="Upstream">{incident.upstream}</FactInLine>
        <FactInLine name="Stopped">
          <RelativeTime atMs={incident.at_ms} />
        </FactInLine>
        <FactInLine name="Incident">
          <Identifier id={incident.incident_id} charsMax={18} kind="incident id" />
        </FactInLine>
      </dl>
    </header>
  );
}

/** Not where somebody has set the agent going past the incident. */
function StillRefused({ agentId }: { agentId: string }) {
  const { data } = useTopic('gateway:agents');
  if (data?.get(agentId)?.policy.active !== false) return null;
  return <p className="text-danger">Every call of this agent is refused until somebody reactivates it.</p>;
}

/** A later incident, or a person, may hold the agent down although this one is dealt with: its page says so. */
function Reactivation({ incident }: { incident: Incident }) {
  const { data } = useTopic('gateway:agents');
  const agent = data?.get(incident.agent_id);
  if (isOpenIncident(incident) && agent?.policy.active !== true) {
    return <ReactivateButton agentId={incident.agent_id} />;
  }
  if (agent && !agent.policy.active) {
    return (
      <TextLink to="/agents/$agentId" params={{ agentId: incident.agent_id }}>
        The agent is stopped again
      </TextLink>
    );
  }
  return null;
}
