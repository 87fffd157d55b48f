/** How many sessions wait for a person, in the colour of a pause, in the navigation. */
import { CountBadge } from './count-badge';
import { useWaitingCount } from './waiting';

export function WaitingCount() {
  return <CountBadge count={useWaitingCount()} noun="waiting for a person" tone="paused" />;
}
