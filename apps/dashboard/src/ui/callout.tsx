/** A sentence or two set apart inside a page: why something is so, or what went wrong. */
import type { ReactNode } from 'react';
import { cx } from './cx';
import { SinceNote } from './since-note';

const tones = {
  neutral: 'border-line bg-sunken text-muted',
  danger: 'border-danger-line bg-danger-soft text-danger',
  warning: 'border-warning-line bg-warning-soft text-warning',
  paused: 'border-paused-line bg-paused-soft text-paused',
} as const;

interface CalloutProps {
  tone?: keyof typeof tones;
  icon?: ReactNode;
  /** Announced at once, and once it is no longer new, dated: for failures that follow an action. */
  alert?: boolean;
  /** Of an alert: when it came up, if that was before it was drawn. */
  atMs?: number;
  className?: string;
  children: ReactNode;
}

export function Callout({ tone = 'neutral', icon, alert = false, atMs, className, children }: CalloutProps) {
  return (
    <div
      role={alert ? 'alert' : undefined}
      className={cx('flex gap-2 rounded-md border px-2.5 py-2 text-xs', tones[tone], className)}
    >
      {icon ? <span className="mt-px shrink-0">{icon}</span> : null}
      <div className="min-w-0 flex-1">
        {children}
        {alert ? <SinceNote atMs={atMs} /> : null}
      </div>
    </div>
  );
}
