/** Grey bars in the shape of what is coming. Hidden from screen readers: give the region aria-busy. */
import { cx } from './cx';

export function Skeleton({ className }: { className?: string }) {
  return (
    <div
      aria-hidden="true"
      className={cx('motion-safe:animate-shimmer rounded bg-line', className ?? 'h-4 w-full')}
    />
  );
}
