/** Counts under each other as thin bars, each against the largest: where most of something goes. */
import type { ReactNode } from 'react';
import { cx } from './cx';
import { formatCount } from './format';

export interface CountLine {
  key: string;
  label: string;
  /** What it means, below the label. */
  note?: string | undefined;
  count: number;
  tone?: 'calm' | 'warning' | 'danger' | 'success' | undefined;
}

const fills = {
  calm: 'bg-accent-solid',
  success: 'bg-success',
  warning: 'bg-[#f59e0b]',
  danger: 'bg-danger-solid',
} as const;

interface CountBarsProps {
  /** Accessible name of the list. */
  label: string;
  lines: readonly CountLine[];
  /** Instead of the list when there is nothing to count. */
  empty: ReactNode;
}

export function CountBars({ label, lines, empty }: CountBarsProps) {
  const most = Math.max(1, ...lines.map(({ count }) => count));
  if (lines.length === 0) return <p className="p-3 text-muted text-xs">{empty}</p>;
  return (
    <ul aria-label={label} className="flex flex-col gap-2.5 p-3">
      {lines.map(({ key, label: name, note, count, tone = 'calm' }) => (
        <li key={key} className="grid grid-cols-[1fr_auto] gap-x-3 gap-y-1">
          <span className="min-w-0">
            {name}
            {note ? <span className="block text-muted text-xs">{note}</span> : null}
          </span>
          <span className="nums text-right font-medium">{formatCount(count)}</span>
          <span
            aria-hidden="true"
            className="says-by-colour col-span-2 h-1 overflow-hidden rounded-full bg-line"
          >
            <span
              className={cx('block h-full rounded-full', fills[tone])}
              style={{ width: `${(count / most) * 100}%`, minWidth: count > 0 ? 2 : 0 }}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}
