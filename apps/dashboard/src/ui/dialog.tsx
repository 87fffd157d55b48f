/**
 * A modal dialog: focus goes in, stays in and comes back. It goes to the first field there is to fill in: on Close,
 * which stands first, what is typed would be lost, and Enter would lose the dialog. On a phone it rises from the bottom.
 */
import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { cx } from './cx';
import { focusAtOnce } from './focus-at-once';
import { scrollRegion } from './scroll-region';

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  children?: ReactNode;
  /** Nothing in it takes the focus: the body does, so that it can be scrolled by keyboard. Its accessible name. */
  textLabel?: string;
  className?: string;
}

/** Of a choice, what is chosen; a control of our own has a hidden input, which is none. */
const FIELD =
  'input:not([aria-hidden=true], [type=radio]:not(:checked)):enabled, textarea:enabled, [role=combobox]:enabled';

export function Dialog(props: DialogProps) {
  const { open, onOpenChange, title, description, children, textLabel, className } = props;
  const body = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-backdrop" />
        <Base.Popup
          // A finger's dialog is read first: its keyboard would cover it. There, and where there is no field: as usual.
          initialFocus={(openedBy) =>
            focusAtOnce(openedBy === 'touch' ? null : body.current?.querySelector<HTMLElement>(FIELD))
          }
          className={cx(
            'fixed z-50 flex max-h-[85dvh] w-full flex-col border border-line-strong bg-raised shadow-pop outline-none',
            'max-md:bottom-0 max-md:left-0 max-md:rounded-t-xl max-md:pb-[env(safe-area-inset-bottom)]',
            'md:top-[12vh] md:left-1/2 md:-translate-x-1/2 md:rounded-xl',
            className ?? 'md:max-w-lg',
          )}
        >
          <header className="flex items-start gap-3 px-4 pt-4">
            <div className="min-w-0 flex-1">
              <Base.Title className="font-semibold text-lg">{title}</Base.Title>
              {description ? (
                <Base.Description render={<div />} className="mt-1 text-muted">
                  {description}
                </Base.Description>
              ) : null}
            </div>
            <Base.Close
              aria-label="Close"
              className="-mr-1 inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-fg"
            >
              <X size={16} aria-hidden="true" />
            </Base.Close>
          </header>
          {children ? (
            <div
              ref={body}
              {...(textLabel ? scrollRegion(textLabel) : {})}
              className="min-h-0 flex-1 overflow-y-auto px-4 py-3"
            >
              {children}
            </div>
          ) : null}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
