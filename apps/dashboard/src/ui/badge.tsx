/** A short word on a tinted ground. Tone carries meaning, and the text always says it too. */
import type { ComponentProps, ReactNode } from 'react';
import { cx } from './cx';

export type Tone = 'neutral' | 'accent' | 'danger' | 'warning' | 'success' | 'paused';

const tones: Record<Tone, string> = {
  neutral: 'bg-sunken text-muted border-line',
  accent: 'bg-accent-soft text-accent border-transparent',
  danger: 'bg-danger-soft text-danger border-danger-line',
  warning: 'bg-warning-soft text-warning border-warning-line',
  success: 'bg-success-soft text-success border-transparent',
  paused: 'bg-paused-soft text-paused border-paused-line',
};

interface BadgeProps extends ComponentProps<'span'> {
  tone?: Tone;
  icon?: ReactNode;
}

export function Badge({ tone = 'neutral', icon, className, children, ...rest }: BadgeProps) {
  return (
    <span
      {...rest}
      className={cx(
        'inline-flex h-5 items-center gap-1 rounded border px-1.5 text-2xs font-medium whitespace-nowrap',
        tones[tone],
        className,
      )}
    >
      {icon}
      {children}
    </span>
  );
}
