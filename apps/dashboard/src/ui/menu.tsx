/** A button that opens a short list of actions. Keyboard and screen-reader behaviour are Base UI's. */
import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';

export interface MenuItem {
  label: ReactNode;
  onSelect: () => void;
}

interface MenuProps {
  /** The button; exactly one element that takes a ref and props. */
  trigger: ReactElement<Record<string, unknown>>;
  items: readonly MenuItem[];
}

export function Menu({ trigger, items }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className="min-w-40 rounded-lg border border-line-strong bg-raised p-1 shadow-pop outline-none">
            {items.map((item, index) => (
              <Base.Item
                // biome-ignore lint/suspicious/noArrayIndexKey: a fixed list.
                key={index}
                onClick={item.onSelect}
                className="flex h-8 cursor-pointer select-none items-center rounded px-2 text-base outline-none data-[highlighted]:bg-hover max-md:h-11"
              >
                {item.label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
