/** The red number beside a place of the navigation: what there waits for somebody. */
import { IncidentCount } from './incident-count';
import { LoopCount } from './loop-count';
import type { Place } from './navigation';

export function PlaceCount({ to, className }: { to: Place['to']; className?: string }) {
  if (to === '/') return <LoopCount className={className} />;
  return to === '/incidents' ? <IncidentCount className={className} /> : null;
}
