/** A label on hover and focus, and on a press where that is all it does. Wraps exactly one element that takes a ref and props. */
import { Tooltip as Base } from '@base-ui/react/tooltip';
import { type ReactElement, type ReactNode, useState } from 'react';
import { Kbd } from './kbd';

export const TooltipProvider = Base.Provider;

export const tooltipPopupClass =
  'max-w-xs rounded-md border border-line-strong bg-raised px-2 py-1 text-xs text-fg shadow-pop z-50';

interface TooltipProps {
  content: ReactNode;
  /** Keys as in the key map, such as "g s". */
  shortcut?: string | undefined;
  /** A press opens it, where it would close it: whoever touches a screen has neither hover nor focus. */
  opensOnPress?: boolean;
  children: ReactElement<Record<string, unknown>>;
}

export function Tooltip({ content, shortcut, opensOnPress = false, children }: TooltipProps) {
  const [openedBy, setOpenedBy] = useState<'pointer' | 'press' | null>(null);
  const press = opensOnPress
    ? { closeOnClick: false, onClick: () => setOpenedBy((before) => before ?? 'press') }
    : {};
  const change = (isOpen: boolean, { reason }: Base.Root.ChangeEventDetails) => {
    // After a touch the mouse is said to leave, which was never there.
    if (!isOpen && openedBy === 'press' && reason === 'trigger-hover') return;
    setOpenedBy(isOpen ? 'pointer' : null);
  };
  return (
    <Base.Root open={openedBy !== null} onOpenChange={change}>
      <Base.Trigger {...press} render={children} />
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
