/** Ahead of a list that goes on and on: who goes from stop to stop by keyboard passes it with one press. Seen while it has the focus. */
import type { ReactNode, RefObject } from 'react';

interface SkipButtonProps {
  /** What stands behind the list; takes the focus, so it needs a tabIndex. */
  to: RefObject<HTMLElement | null>;
  children: ReactNode;
}

export function SkipButton({ to, children }: SkipButtonProps) {
  return (
    <button
      type="button"
      onClick={() => to.current?.focus()}
      className="not-focus:sr-only absolute top-2 left-2 z-30 rounded-md bg-raised px-3 py-1.5 shadow-pop"
    >
      {children}
    </button>
  );
}
