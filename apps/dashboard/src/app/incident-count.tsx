/** How many agents the kill switch has stopped and nobody has reactivated, as a red number in the navigation. */
import { useTopic } from '../realtime';
import { CountBadge } from './count-badge';
import { stoppedAgentCount } from './stopped-agents';

export function IncidentCount({ className }: { className?: string | undefined }) {
  const { data } = useTopic('gateway:agents');
  return <CountBadge count={data ? stoppedAgentCount(data.values()) : 0} noun="open" className={className} />;
}
