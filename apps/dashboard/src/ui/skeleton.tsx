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

/** A page of text or of a table that is on its way. @param className the room between the lines, and around them */
export const SkeletonLines = ({ className }: { className: string }) => (
  <div aria-busy="true" className={cx('flex flex-col', className)}>
    {[92, 80, 88, 74, 84, 90].map((width) => (
      <div key={width} style={{ width: `${width}%` }}>
        <Skeleton className="h-4" />
      </div>
    ))}
  </div>
);
