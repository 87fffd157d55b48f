/** The numbers beside a place of the navigation: what there waits for somebody. */
import { cx } from '../ui';
import { IncidentCount } from './incident-count';
import { LoopCount } from './loop-count';
import type { Place } from './navigation';
import { WaitingCount } from './waiting-count';

export function PlaceCount({ to, className }: { to: Place['to']; className?: string }) {
  if (to === '/') {
    return (
      <span className={cx('flex gap-1', className)}>
        <LoopCount />
        <WaitingCount />
      </span>
    );
  }
  return to === '/incidents' ? <IncidentCount className={className} /> : null;
}
