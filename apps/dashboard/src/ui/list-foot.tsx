/** Below a list that comes page by page: how much of it is shown, and a button for more where there is more. */
import { Button } from './button';
import { cx } from './cx';

interface ListFootProps {
  /** As in "12 entries shown". */
  text?: string;
  hasMore: boolean;
  isLoading: boolean;
  onLoad: () => unknown;
  label?: string;
  className?: string;
}

export function ListFoot({
  text,
  hasMore,
  isLoading,
  onLoad,
  label = 'Load older',
  className,
}: ListFootProps) {
  if (text === undefined && !hasMore) return null;
  return (
    <div className={cx('flex items-center justify-center gap-3 p-3 text-muted text-xs', className)}>
      {text}
      {hasMore ? (
        <Button size="sm" busy={isLoading} onClick={() => onLoad()}>
          {label}
        </Button>
      ) : null}
    </div>
  );
}
