/** That another gateway has the agent's calls too: what is seen of it here is only some of it. */
import { Split } from 'lucide-react';
import type { AgentView } from '#contracts';
import { Badge } from '../../ui';

const EXPLANATION =
  'A pause or a stop holds there too. But each gateway sees only some of the calls and of their cost, and notices loops late. Let the load balancer choose by agent.';

export function SplitBadge({ agent }: { agent: AgentView }) {
  if (!agent.is_split) return null;
  return (
    <Badge
      tone="warning"
      title={`Its calls also reach another gateway. ${EXPLANATION}`}
      icon={<Split size={11} aria-hidden="true" />}
    >
      Also elsewhere
    </Badge>
  );
}

/** @param namesAgent of a page that is another thing's */
export function SplitNote({ agent, namesAgent = false }: { agent: AgentView; namesAgent?: boolean }) {
  if (!agent.is_split) return null;
  return (
    <p role="status" className="text-muted">
      <span className="font-medium text-warning">
        Calls of {namesAgent ? 'its agent' : 'this agent'} also reach another gateway.
      </span>{' '}
      {EXPLANATION}
    </p>
  );
}
