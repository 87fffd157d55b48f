/** What is known of a thing, each under a name: a description list, whose `dl` its page lays out. */
import type { ReactNode } from 'react';
import { cx } from './cx';

interface FactProps {
  name: string;
  /** Of what is known. */
  className?: string;
  children: ReactNode;
}

/** A row of a grid of two columns. */
export const Fact = ({ name, className, children }: FactProps) => (
  <>
    <dt className="text-muted">{name}</dt>
    <dd className={cx('nums min-w-0 break-words', className)}>{children}</dd>
  </>
);

/** One of several that stand in a line, which wraps. */
export const FactInLine = ({ name, className, children }: FactProps) => (
  <div className="flex min-w-0 items-baseline gap-1.5">
    <dt className="shrink-0 text-muted">{name}</dt>
    <dd className={cx('nums min-w-0 font-medium [overflow-wrap:anywhere]', className)}>{children}</dd>
  </div>
);
