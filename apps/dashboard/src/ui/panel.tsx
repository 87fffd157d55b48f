/** A framed region with a heading. Renders a named landmark when it has a title. */
import { type ReactNode, useId } from 'react';
import { cx } from './cx';

interface PanelProps {
  title?: ReactNode;
  /** Beside the title: a count, a badge. */
  aside?: ReactNode;
  /** At the right end of the header. */
  actions?: ReactNode;
  className?: string;
  /** Of the part below the header; "p-3" unless given. */
  bodyClassName?: string;
  children: ReactNode;
}

export function Panel({ title, aside, actions, className, bodyClassName = 'p-3', children }: PanelProps) {
  const headingId = useId();
  return (
    <section
      aria-labelledby={title ? headingId : undefined}
      className={cx('flex min-w-0 flex-col rounded-lg border border-line bg-surface shadow-panel', className)}
    >
      {title ? (
        <header className="flex min-h-10 shrink-0 items-center gap-2 border-line border-b px-3 py-1.5">
          {/* Two lines are no higher than a button beside them: what comes into the header later moves nothing below it. */}
          <h2 id={headingId} className="font-semibold text-base leading-4">
            {title}
          </h2>
          {aside}
          {actions ? <div className="ml-auto flex items-center gap-1.5">{actions}</div> : null}
        </header>
      ) : null}
      <div className={cx('min-h-0 min-w-0 flex-1', bodyClassName)}>{children}</div>
    </section>
  );
}
