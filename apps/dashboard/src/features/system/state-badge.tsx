/** The state of a part, in its colour; of one that was heard of long ago how long, and no colour: it may have changed since. */
import type { ComponentProps } from 'react';
import { Badge, RelativeTime } from '../../ui';

interface StateBadgeProps extends ComponentProps<typeof Badge> {
  /** When it was so; null: it is. */
  asOfMs: number | null;
}

export function StateBadge({ asOfMs, tone, children, ...rest }: StateBadgeProps) {
  return (
    <Badge {...rest} tone={asOfMs === null ? tone : 'neutral'}>
      {asOfMs === null ? (
        children
      ) : (
        <span>
          {children}, <RelativeTime atMs={asOfMs} />
        </span>
      )}
    </Badge>
  );
}
