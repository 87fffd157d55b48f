/** A page of figures and panels: a heading with what belongs beside it, and a body that scrolls by keyboard too. */
import type { ReactNode } from 'react';

interface StatePageProps {
  title: string;
  /** Read out for the scrolling region. */
  label: string;
  /** Beside the title. */
  heading: ReactNode;
  children: ReactNode;
}

export function StatePage({ title, label, heading, children }: StatePageProps) {
  return (
    <div className="flex h-full flex-col">
      <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1.5 border-line border-b bg-surface px-4 py-2">
        <h1 className="font-semibold text-md">{title}</h1>
        {heading}
      </header>
      {/* Focusable, because a scrolling region has to be reachable by keyboard. */}
      <section
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
        tabIndex={0}
        className="focus-inset min-h-0 flex-1 overflow-y-auto"
      >
        <div className="mx-auto flex max-w-6xl flex-col gap-3 p-3">{children}</div>
      </section>
    </div>
  );
}
