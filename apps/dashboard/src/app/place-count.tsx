/** The numbers beside a place of the navigation: what there waits for somebody. */
import { cx } from '../ui';
import { FailingCount } from './failing-count';
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
  if (to === '/alerts' || to === '/system') return <FailingCount at={[to]} className={className} />;
  return to === '/incidents' ? <IncidentCount className={className} /> : null;
}
