/** A number with its unit inside the frame. What it takes and how it is labelled is as for Input. */
import type { ComponentProps } from 'react';
import { cx } from './cx';
import { Input } from './field';

interface UnitInputProps extends ComponentProps<'input'> {
  unit: string;
}

export function UnitInput({ unit, className, ...rest }: UnitInputProps) {
  return (
    <span className="relative block">
      <Input inputMode="decimal" autoComplete="off" {...rest} className={cx('nums pr-12', className)} />
      <span
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2 text-muted text-xs"
      >
        {unit}
      </span>
    </span>
  );
}
