/**
 * Buttons. `busy` keeps the label and width and refuses further clicks. `disabledReason` disables in a way that can
 * still be focused and says why (tooltip, on a press too, and accessible description): use it wherever a permission or a state
 * forbids the action, so that nobody meets a dead button without a reason.
 */
import { type ComponentProps, type MouseEvent, type ReactNode, useId } from 'react';
import { cx } from './cx';
import { Tooltip } from './tooltip';

export type ButtonVariant = 'primary' | 'secondary' | 'ghost' | 'pause' | 'danger' | 'danger-quiet';
export type ButtonSize = 'sm' | 'md' | 'lg';

const variants: Record<ButtonVariant, string> = {
  primary: 'bg-accent-solid text-white hover:bg-accent-solid-hover border-transparent',
  secondary: 'bg-raised text-fg border-line-strong hover:bg-hover',
  ghost: 'bg-transparent text-muted border-transparent hover:bg-hover hover:text-fg',
  pause: 'bg-raised text-paused border-paused-line hover:bg-hover',
  danger: 'bg-danger-solid text-white hover:bg-danger-solid-hover border-transparent',
  'danger-quiet': 'bg-transparent text-danger border-danger-line hover:bg-danger-soft',
};

const sizes: Record<ButtonSize, string> = {
  sm: 'h-7 px-2.5 text-xs gap-1.5',
  md: 'h-8 px-3 text-base gap-1.5',
  lg: 'h-11 px-4 text-md gap-2',
};

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  variant?: ButtonVariant;
  size?: ButtonSize;
  icon?: ReactNode;
  busy?: boolean;
  /** Why the button cannot be used now; absent or empty = it can. */
  disabledReason?: string | null | undefined;
  disabled?: boolean;
}

/** A push button; type="button" unless told otherwise. */
export function Button({
  variant = 'secondary',
  size = 'md',
  icon,
  busy = false,
  disabledReason,
  disabled = false,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const reasonId = useId();
  const inert = busy || disabled || Boolean(disabledReason);
  const handleClick = (event: MouseEvent<HTMLButtonElement>) => {
    if (inert) event.preventDefault();
    else onClick?.(event);
  };
  const button = (
    <button
      type="button"
      {...rest}
      onClick={handleClick}
      aria-disabled={inert || undefined}
      aria-busy={busy || undefined}
      aria-describedby={disabledReason ? reasonId : rest['aria-describedby']}
      className={cx(
        'inline-flex shrink-0 select-none items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors',
        sizes[size],
        inert && !busy ? 'bg-sunken text-faint border-line' : variants[variant],
        className,
      )}
    >
      {busy ? <Spinner /> : icon}
      {children}
      {disabledReason ? (
        <span id={reasonId} hidden>
          {disabledReason}
        </span>
      ) : null}
    </button>
  );
  if (!disabledReason) return button;
  return (
    <Tooltip content={disabledReason} opensOnPress>
      {button}
    </Tooltip>
  );
}

function Spinner() {
  return (
    <span
      aria-hidden="true"
      className="size-3.5 animate-spin-slow rounded-full border-2 border-current border-r-transparent"
    />
  );
}

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  /** Accessible name, shown as the tooltip. */
  label: string;
  icon: ReactNode;
  shortcut?: string;
  pressed?: boolean;
}

/** A square button with an icon only; its label is the tooltip and the accessible name. */
export function IconButton({ label, icon, shortcut, pressed, className, ...rest }: IconButtonProps) {
  return (
    <Tooltip content={label} shortcut={shortcut}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        aria-pressed={pressed}
        className={cx(
          'inline-flex size-8 shrink-0 items-center justify-center rounded-md transition-colors hover:bg-hover hover:text-fg',
          pressed ? 'bg-accent-soft text-accent' : 'text-muted',
          className,
        )}
      >
        {icon}
      </button>
    </Tooltip>
  );
}
