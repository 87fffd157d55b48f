/** What a view says when it has nothing to show: what would be here, and what to do about it. */
import type { ReactNode } from 'react';
import { cx } from './cx';

interface EmptyStateProps {
  icon?: ReactNode;
  title: ReactNode;
  /** It stands for a whole page: its title is the page's heading. */
  isPage?: boolean;
  children?: ReactNode;
  action?: ReactNode;
  className?: string;
}

export function EmptyState({ icon, title, isPage = false, children, action, className }: EmptyStateProps) {
  return (
    <div className={cx('flex flex-col items-center justify-center gap-2 px-6 py-12 text-center', className)}>
      {icon ? <div className="text-faint">{icon}</div> : null}
      {isPage ? (
        <h1 className="font-medium text-md">{title}</h1>
      ) : (
        <p className="font-medium text-md">{title}</p>
      )}
      {children ? <div className="max-w-md text-muted">{children}</div> : null}
      {action ? <div className="mt-2">{action}</div> : null}
    </div>
  );
}
