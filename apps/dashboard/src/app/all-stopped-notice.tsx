/** Below every page while all agents are stopped: there it covers nothing, and moves nothing at its top. */
import { useRouterState } from '@tanstack/react-router';
import { AllStoppedBy } from '../features/agents/all-stopped-by';
import { useTopic } from '../realtime';
import { TextLink } from './text-link';

/** They say so themselves, at their top. */
const SAY_SO: readonly string[] = ['/agents', '/all-agents'];

export function AllStoppedNotice() {
  const { data } = useTopic('gateway:all_agents');
  const isSaid = useRouterState({ select: ({ location }) => SAY_SO.includes(location.pathname) });
  if (!data || data.policy.active || isSaid) return null;
  return (
    <p
      role="status"
      data-testid="all-stopped"
      className="flex shrink-0 items-end justify-center gap-1 border-danger-line border-t bg-danger-soft px-3 py-1 text-danger text-xs"
    >
      {/* A long reason stands on its page: here it would leave no room for this one. */}
      <span className="line-clamp-3 min-w-0 [overflow-wrap:anywhere]">
        <AllStoppedBy view={data} />
      </span>
      <span className="shrink-0">
        {' · '}
        <TextLink to="/all-agents">Open</TextLink>
      </span>
    </p>
  );
}
