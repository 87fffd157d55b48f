/** Why an agent that nobody stopped gets no further: on its own page, and on that of a session of its. */
import type { AgentView } from '#contracts';
import { TextLink } from '../../app/text-link';
import { RelativeTime } from '../../ui';
import { DECISIONS } from '../calls/decision-texts';
import { isRefused } from './select-agents';
import { useAllChangedMs } from './use-all-changed';

interface LatestRefusalProps {
  agent: AgentView;
  /** Begins with the agent, and leads to it: of a page that is another thing's. */
  namesAgent?: boolean;
}

/** Draws nothing where its calls go through, or somebody stopped it. */
export function LatestRefusal({ agent, namesAgent = false }: LatestRefusalProps) {
  const allChangedMs = useAllChangedMs();
  const { latest_refusal: refusal, policy, agent_id: agentId } = agent;
  if (!policy.active || refusal === null || !isRefused(agent, allChangedMs)) return null;
  const { label, text } = DECISIONS[refusal.decision];
  return (
    <p data-testid="latest-refusal" className="text-muted">
      <span className="font-medium text-warning">
        {namesAgent ? 'The latest call of its agent' : 'Its latest call'} was refused
      </span>
      , <RelativeTime atMs={refusal.at_ms} /> · {label}: {refusal.detail ?? text}
      {namesAgent ? (
        <>
          {' · '}
          <TextLink to="/agents/$agentId" params={{ agentId }}>
            Open the agent
          </TextLink>
        </>
      ) : null}
    </p>
  );
}
