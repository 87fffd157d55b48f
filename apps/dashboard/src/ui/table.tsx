/** Parts of a plain, short table, which scrolls sideways where it has too little room. Long live lists are virtualised grids of their own. */
import type { ComponentProps } from 'react';
import { cx } from './cx';
import { ScrollSideways } from './scroll-sideways';

export function Table({ className, ...rest }: ComponentProps<'table'>) {
  return (
    <ScrollSideways hasHead>
      <table
        {...rest}
        className={cx('w-full border-collapse text-left [&_tbody>tr:last-child>td]:border-b-0', className)}
      />
    </ScrollSideways>
  );
}

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return (
    <th
      scope="col"
      {...rest}
      className={cx(
        'h-8 border-line border-b px-3 font-medium text-2xs text-muted whitespace-nowrap',
        className,
      )}
    />
  );
}

/** Over rows that scroll away below it. */
export const StickyTh = ({ className, ...rest }: ComponentProps<'th'>) => (
  <Th {...rest} className={cx('bg-surface text-left', className)} />
);

/** Over buttons: a heading for who does not see them. */
export const ActionsTh = ({ className }: { className?: string }) => (
  <Th className={className}>
    <span className="sr-only">Actions</span>
  </Th>
);

export function Td({ className, ...rest }: ComponentProps<'td'>) {
  return <td {...rest} className={cx('border-line border-b px-3 py-2 align-middle', className)} />;
}

/** Stands for the rows above or below the view of a long list. One column wide: more than are shown would make another. */
export const RowSpacer = ({ height }: { height: number }) =>
  height > 0 ? (
    <tr>
      <td style={{ height, padding: 0 }} />
    </tr>
  ) : null;
