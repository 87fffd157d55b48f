/** Tabs over panels that stay in place. */
import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode, Ref } from 'react';
import { cx } from './cx';
import { ScrollSideways } from './scroll-sideways';

interface TabsProps<V extends string> {
  ref?: Ref<HTMLDivElement>;
  label: string;
  value: V;
  onChange: (value: V) => void;
  tabs: readonly { value: V; label: ReactNode; content: ReactNode }[];
  className?: string;
}

export function Tabs<V extends string>({ ref, label, value, onChange, tabs, className }: TabsProps<V>) {
  return (
    <Base.Root
      ref={ref}
      value={value}
      onValueChange={(next) => onChange(next as V)}
      className={cx('flex min-h-0 flex-col', className)}
    >
      <ScrollSideways>
        <Base.List aria-label={label} className="flex w-max min-w-full gap-1 border-line border-b px-2">
          {tabs.map((tab) => (
            <Base.Tab
              key={tab.value}
              value={tab.value}
              className="-mb-px h-9 border-transparent border-b-2 px-2 font-medium text-muted whitespace-nowrap hover:text-fg data-[active]:border-accent data-[active]:text-fg"
            >
              {tab.label}
            </Base.Tab>
          ))}
        </Base.List>
      </ScrollSideways>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="focus-inset min-h-0 flex-1">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
