/** A number in the navigation; nothing at zero. */
import { cx } from '../ui';

interface CountBadgeProps {
  count: number;
  /** There are more than were counted. */
  hasMore?: boolean;
  /** What is counted, for screen readers. */
  noun: string;
  /** Red, unless it is a pause. */
  tone?: 'danger' | 'paused';
  className?: string | undefined;
}

export function CountBadge({ count, hasMore = false, noun, tone = 'danger', className }: CountBadgeProps) {
  if (count === 0) return null;
  return (
    <span
      className={cx(
        'says-by-colour nums inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-full px-1 font-semibold text-2xs text-white',
        tone === 'danger' ? 'bg-danger-solid' : 'bg-paused-solid',
        className,
      )}
    >
      {count > 99 ? '99+' : hasMore ? `${count}+` : count}
      <span className="sr-only"> {noun}</span>
    </span>
  );
}
