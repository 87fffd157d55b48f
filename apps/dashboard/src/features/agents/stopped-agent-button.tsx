/** Where an agent that somebody stopped can be let go on: at the incident that holds the evidence, else on its own page. */
import { GoButton } from '../../app/go-button';

interface StoppedAgentButtonProps {
  agentId: string;
  /** Null: no incident of its is open. */
  incidentId: string | null;
  className?: string;
}

export const StoppedAgentButton = ({ agentId, incidentId, ...rest }: StoppedAgentButtonProps) =>
  incidentId === null ? (
    <GoButton
      {...rest}
      target={{ to: '/agents/$agentId', params: { agentId } }}
      label="Open agent"
      of={agentId}
    />
  ) : (
    <GoButton
      {...rest}
      target={{ to: '/incidents/$incidentId', params: { incidentId } }}
      label="Open incident"
      of={agentId}
    />
  );
