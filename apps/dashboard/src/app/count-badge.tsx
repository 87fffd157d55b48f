/** A red number in the navigation; nothing at zero. */
import { cx } from '../ui';

interface CountBadgeProps {
  count: number;
  /** What is counted, for screen readers. */
  noun: string;
  className?: string | undefined;
}

export function CountBadge({ count, noun, className }: CountBadgeProps) {
  if (count === 0) return null;
  return (
    <span
      className={cx(
        'nums inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-full bg-danger-solid px-1 font-semibold text-2xs text-white',
        className,
      )}
    >
      {count > 99 ? '99+' : count}
      <span className="sr-only"> {noun}</span>
    </span>
  );
}
