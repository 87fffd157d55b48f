/** The scrolling body of a tab, in the width of a page of settings. */
import type { ReactNode } from 'react';

export function TabBody({
  lead,
  action,
  children,
}: {
  lead: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-5xl flex-col gap-3 px-4 py-4">
        <div className="flex flex-wrap items-center gap-2">
          <p className="mr-auto text-muted">{lead}</p>
          {action}
        </div>
        {children}
      </div>
    </div>
  );
}
