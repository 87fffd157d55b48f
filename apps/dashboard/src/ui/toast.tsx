/**
 * Toasts, sparingly: only for the outcome of an action whose own place on the page is gone. Failures belong inline,
 * beside the control that failed. `toast({ title, description?, tone? })` works from anywhere.
 */
import { Toast as Base } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import { cx } from './cx';

const manager = Base.createToastManager();

export interface ToastContent {
  title: string;
  description?: string;
  tone?: 'neutral' | 'success' | 'danger';
  /** It says what nothing else on any page does. */
  staysUntilDismissed?: boolean;
}

/** Shows a toast for five seconds, if it does not stay; announced politely. */
export function toast({ title, description, tone = 'neutral', staysUntilDismissed }: ToastContent): void {
  manager.add({ title, description, type: tone, timeout: staysUntilDismissed ? 0 : 5_000 });
}

/** Mounted once, by the app. */
export function ToastRegion() {
  return (
    <Base.Provider toastManager={manager} limit={3}>
      <Base.Portal>
        <Base.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 flex-col gap-2 max-md:right-3 max-md:bottom-20 max-md:left-3 max-md:w-auto">
          <ToastList />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function ToastList() {
  const { toasts } = Base.useToastManager();
  return toasts.map((item) => (
    <Base.Root
      key={item.id}
      toast={item}
      className={cx(
        'flex items-start gap-3 rounded-lg border bg-raised px-3 py-2.5 shadow-pop',
        item.type === 'danger' ? 'border-danger-line' : 'border-line-strong',
      )}
    >
      <div className="min-w-0 flex-1">
        <Base.Title className="font-medium" />
        <Base.Description className="text-muted" />
      </div>
      <Base.Close aria-label="Dismiss" className="text-muted hover:text-fg">
        <X size={14} aria-hidden="true" />
      </Base.Close>
    </Base.Root>
  ));
}
