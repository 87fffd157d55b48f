/** A label on hover and focus. Wraps exactly one element that takes a ref and props. */
import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';
import { Kbd } from './kbd';

export const TooltipProvider = Base.Provider;

export const tooltipPopupClass =
  'max-w-xs rounded-md border border-line-strong bg-raised px-2 py-1 text-xs text-fg shadow-pop z-50';

interface TooltipProps {
  content: ReactNode;
  /** Keys as in the key map, such as "g s". */
  shortcut?: string | undefined;
  children: ReactElement<Record<string, unknown>>;
}

export function Tooltip({ content, shortcut, children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner side="top" sideOffset={6} className="z-50">
          <Base.Popup className={tooltipPopupClass}>
            <span className="flex items-center gap-2">
              {content}
              {shortcut ? <Kbd keys={shortcut} /> : null}
            </span>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
