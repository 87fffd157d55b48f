/** An on/off setting that takes effect at once. */
import { Switch as Base } from '@base-ui/react/switch';
import type { ReactNode } from 'react';

interface SwitchProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  /** Why it cannot be changed is for its surroundings to say. */
  disabled?: boolean;
  children: ReactNode;
}

export function Switch({ checked, onChange, disabled = false, children }: SwitchProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is Base UI's switch, inside.
    <label className="inline-flex cursor-pointer select-none items-center gap-2 text-muted hover:text-fg has-data-disabled:cursor-not-allowed has-data-disabled:hover:text-muted">
      <Base.Root
        checked={checked}
        disabled={disabled}
        onCheckedChange={(next) => onChange(next)}
        className="says-by-colour inline-flex h-4 w-7 shrink-0 items-center rounded-full border border-line-strong bg-sunken p-px transition data-[disabled]:cursor-not-allowed data-[disabled]:opacity-50 data-[checked]:border-accent-solid data-[checked]:bg-accent-solid"
      >
        <Base.Thumb className="size-3 rounded-full bg-muted transition-transform data-[checked]:translate-x-3 data-[checked]:bg-white" />
      </Base.Root>
      {children}
    </label>
  );
}
