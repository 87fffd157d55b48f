/** The details of a call beside the list: a column on a desktop, a sheet on a phone. Escape closes it. */
import { Link } from '@tanstack/react-router';
import { Maximize2, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { LlmCall } from '#contracts';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import { Callout, Dialog, IconButton, Skeleton, useIsPhone } from '../../ui';
import { CallDetails } from './call-details';
import { DecisionBadge } from './decision-badge';
import { useCall } from './use-call';

interface CallPanelProps {
  callId: string;
  known: LlmCall | undefined;
  onClose: () => void;
}

export function CallPanel({ callId, known, onClose }: CallPanelProps) {
  const { call, failure } = useCall(callId, known);
  const isPhone = useIsPhone();
  const close = () => {
    focusRow(callId);
    onClose();
  };
  useShortcut('back', close);
  const body = call ? (
    <CallDetails call={call} />
  ) : failure ? (
    <Callout tone="danger">{failure}</Callout>
  ) : (
    <div aria-busy="true" className="flex flex-col gap-3">
      <Skeleton className="h-6" />
      <Skeleton className="h-40" />
    </div>
  );
  const title = call?.model ?? call?.path ?? 'Call';
  if (isPhone) {
    return (
      <Dialog
        open
        onOpenChange={(open) => open || onClose()}
        title={title}
        description={call ? <DecisionBadge call={call} /> : undefined}
      >
        {body}
      </Dialog>
    );
  }
  return (
    <aside
      aria-label="Call"
      className="flex w-[26rem] shrink-0 flex-col border-line border-l bg-surface max-lg:w-[22rem]"
    >
      <header className="flex shrink-0 items-center gap-2 border-line border-b py-2 pr-2 pl-4">
        <PanelHeading key={callId} title={title} />
        {call ? <DecisionBadge call={call} /> : null}
        <Link
          to="/calls/$callId"
          params={{ callId }}
          aria-label="Open on a page of its own"
          title="Open on a page of its own"
          className="ml-auto inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-fg"
        >
          <Maximize2 size={14} aria-hidden="true" />
        </Link>
        <IconButton label="Close" shortcut="esc" icon={<X size={15} aria-hidden="true" />} onClick={close} />
      </header>
      {/* Focusable, because a scrolling region has to be reachable by keyboard. */}
      <section
        aria-label="Details of the call"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
        tabIndex={0}
        className="focus-inset min-h-0 flex-1 overflow-y-auto p-4"
      >
        {body}
      </section>
    </aside>
  );
}

/** Gives the focus back to where the call was opened; one that is out of sight has no row. */
const focusRow = (callId: string): void =>
  document
    .querySelector<HTMLElement>(`[data-call-id="${CSS.escape(callId)}"] button`)
    ?.focus({ preventScroll: true });

/** Takes the focus when another call is opened, so that its details are read out and Tab goes on from here. */
function PanelHeading({ title }: { title: string }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => ref.current?.focus({ preventScroll: true }), []);
  return (
    <h2 ref={ref} tabIndex={-1} className="min-w-0 truncate font-semibold text-md outline-none" title={title}>
      {title}
    </h2>
  );
}
