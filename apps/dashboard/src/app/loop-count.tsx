/** How many sessions loop unattended, as a red number in the navigation. */
import { cx } from '../ui';
import { useLoopCount } from './looping';

export function LoopCount({ className }: { className?: string }) {
  const count = useLoopCount();
  if (count === 0) return null;
  return (
    <span
      className={cx(
        'nums inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-full bg-danger-solid px-1 font-semibold text-2xs text-white',
        className,
      )}
    >
      {count > 99 ? '99+' : count}
      <span className="sr-only"> looping</span>
    </span>
  );
}
