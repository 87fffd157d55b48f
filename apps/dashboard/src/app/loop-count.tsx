/** How many sessions loop unattended, as a red number in the navigation. */
import { CountBadge } from './count-badge';
import { useLoopCount } from './looping';

export function LoopCount() {
  return <CountBadge count={useLoopCount()} noun="looping" />;
}
