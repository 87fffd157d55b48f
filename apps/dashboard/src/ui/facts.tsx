/** What is known of a thing, each under a name: a description list, whose `dl` its page lays out. */
import type { ReactNode } from 'react';
import { cx } from './cx';

interface FactProps {
  name: string;
  children: ReactNode;
}

/** A row of a grid of two columns. @param className of what is known */
export const Fact = ({ name, className, children }: FactProps & { className?: string }) => (
  <>
    <dt className="text-muted">{name}</dt>
    <dd className={cx('nums min-w-0 break-words', className)}>{children}</dd>
  </>
);

/** One of several that stand in a line, which wraps. */
export const FactInLine = ({ name, children }: FactProps) => (
  <div className="flex min-w-0 items-baseline gap-1.5">
    <dt className="shrink-0 text-muted">{name}</dt>
    <dd className="nums min-w-0 font-medium [overflow-wrap:anywhere]">{children}</dd>
  </div>
);
