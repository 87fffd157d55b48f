/** A row of figures: what a page is about, in numbers. A description list; null values are on their way. */
import type { ReactNode } from 'react';
import { cx } from './cx';
import { Skeleton } from './skeleton';

export interface Figure {
  label: string;
  /** Null: not known yet, drawn as a skeleton. */
  value: ReactNode | null;
  /** Beside the value: what it is made of. */
  note?: ReactNode;
  tone?: 'danger' | 'warning' | 'success' | 'faint' | undefined;
}

const tones = {
  danger: 'text-danger',
  warning: 'text-warning',
  success: 'text-success',
  faint: 'text-muted',
} as const;

/** @param figures the first is the largest */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl className="grid shrink-0 grid-cols-4 gap-px overflow-hidden rounded-lg border border-line bg-line max-md:grid-cols-2">
      {figures.map(({ label, value, note, tone }, index) => (
        <div key={label} className="min-w-0 bg-surface px-4 py-3">
          <dt className="text-2xs text-muted">{label}</dt>
          <dd className="nums flex flex-wrap items-baseline gap-x-2">
            {value === null ? (
              <Skeleton className="my-1.5 h-5 w-20" />
            ) : (
              <>
                <span
                  className={cx('font-semibold', index === 0 ? 'text-xl' : 'text-lg', tone && tones[tone])}
                >
                  {value}
                </span>
                {note ? <span className="text-muted text-xs">{note}</span> : null}
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
