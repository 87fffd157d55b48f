/** A choice of one value. Keyboard and screen-reader behaviour are Base UI's. */
import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from './cx';

export interface SelectOption<V extends string> {
  value: V;
  label: ReactNode;
  /** It is a note, and cannot be chosen. */
  disabled?: boolean;
}

interface SelectProps<V extends string> {
  /** Accessible name of the trigger. */
  label: string;
  value: V;
  options: readonly SelectOption<V>[];
  onChange: (value: V) => void;
  disabled?: boolean;
  /** Draws the trigger as set apart: a filter in force. */
  highlighted?: boolean;
  className?: string;
}

export function Select<V extends string>(props: SelectProps<V>) {
  const { label, value, options, onChange, disabled, highlighted, className } = props;
  return (
    <Base.Root
      items={options as SelectOption<V>[]}
      value={value}
      onValueChange={(next) => next !== null && onChange(next as V)}
      disabled={disabled}
    >
      <Base.Trigger
        aria-label={label}
        className={cx(
          'inline-flex h-8 items-center gap-1.5 rounded-md border px-2.5 text-base whitespace-nowrap max-md:h-10',
          disabled ? 'bg-sunken text-muted border-line-strong' : 'hover:bg-hover',
          !disabled &&
            (highlighted
              ? 'border-accent bg-accent-soft text-accent'
              : 'border-line-strong bg-surface text-fg'),
          className,
        )}
      >
        <Base.Value />
        <Base.Icon className="ml-auto opacity-70">
          <ChevronDown size={14} aria-hidden="true" />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50">
          <Base.Popup className="max-h-(--available-height) min-w-(--anchor-width) overflow-y-auto rounded-lg border border-line-strong bg-raised p-1 shadow-pop outline-none">
            {options.map((option) => (
              <Base.Item
                key={option.value}
                value={option.value}
                disabled={option.disabled ?? false}
                className="flex h-8 cursor-pointer select-none items-center gap-2 rounded px-2 text-base outline-none data-[disabled]:cursor-default data-[disabled]:text-muted data-[highlighted]:bg-hover max-md:h-10"
              >
                <Base.ItemText className="flex-1">{option.label}</Base.ItemText>
                <Base.ItemIndicator>
                  <Check size={14} aria-hidden="true" />
                </Base.ItemIndicator>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

type SelectFieldProps<V extends string> = Omit<SelectProps<V>, 'highlighted' | 'className'> & {
  /** What the choice means. */
  hint?: ReactNode;
};

/** A select in a form, its label above it. */
export function SelectField<V extends string>({ hint, ...select }: SelectFieldProps<V>) {
  return (
    <div className="flex flex-col gap-1">
      <span aria-hidden="true" className="font-medium text-xs">
        {select.label}
      </span>
      <Select {...select} className="w-full" />
      {hint ? <p className="text-muted text-xs">{hint}</p> : null}
    </div>
  );
}
