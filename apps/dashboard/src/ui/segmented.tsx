/** A choice between a few views of the same thing, all visible. A radio group to assistive technology. */
import { type ReactNode, useId } from 'react';
import { cx } from './cx';

interface SegmentedProps<V extends string> {
  /** Accessible name of the group. */
  label: string;
  value: V;
  options: readonly { value: V; label: ReactNode }[];
  onChange: (value: V) => void;
  className?: string;
}

export function Segmented<V extends string>({
  label,
  value,
  options,
  onChange,
  className,
}: SegmentedProps<V>) {
  const name = useId();
  return (
    <fieldset
      className={cx('inline-flex shrink-0 rounded-md border border-line-strong bg-sunken p-0.5', className)}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={cx(
            'relative inline-flex h-6.5 cursor-pointer select-none items-center gap-1.5 rounded px-2.5 font-medium text-xs max-md:h-8.5',
            'has-focus-visible:outline-2 has-focus-visible:outline-accent',
            option.value === value
              ? 'bg-raised text-fg shadow-panel ring-1 ring-line-strong'
              : 'text-muted hover:text-fg',
          )}
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="absolute inset-0 cursor-pointer opacity-0"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
