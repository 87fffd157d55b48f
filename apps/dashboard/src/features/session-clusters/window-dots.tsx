/**
 * The entropy window as dots, oldest first. Colour is the action's status; equal tuples share a shape with a ring
 * (circle, square, diamond), and neighbours that are equal are joined, so a loop reads as one bar.
 */
import { Tooltip as Base } from '@base-ui/react/tooltip';
import { memo } from 'react';
import type { ActionStatus, EntropyTuple } from '#contracts';
import { cx, tooltipPopupClass } from '../../ui';
import { markTuples, type TupleMark } from './tuple-groups';

export const STATUS_COLOURS: Record<ActionStatus, string> = {
  success: 'bg-[#22a565]',
  failure: 'bg-[#ef4444]',
  pending: 'bg-[#3b82f6]',
  skipped: 'bg-[#8a929f]',
};

const repeatShapes = ['rounded-full', 'rounded-[2px]', 'rounded-[2px] rotate-45 scale-90'];

export function TupleDot({ mark }: { mark: TupleMark }) {
  const shape = mark.repeatIndex === null ? 'rounded-full scale-75' : repeatShapes[mark.repeatIndex % 3];
  return (
    <span
      className={cx(
        'says-by-colour relative z-10 size-2.5 shrink-0',
        STATUS_COLOURS[mark.tuple.action_status],
        shape,
        mark.repeatIndex !== null && 'shadow-[0_0_0_1.5px_var(--surface),0_0_0_2.5px_var(--muted)]',
      )}
    />
  );
}

/** One popup for every row of the list: a tooltip per dot would cost a listener and a portal each. */
const handle = Base.createHandle<readonly EntropyTuple[]>();

/** Spoken and in the tooltip: "5 of 5 equal: search files · grep · failure". */
function describeWindow(window: readonly EntropyTuple[]): string {
  const marks = markTuples(window);
  const top = marks.reduce<TupleMark | null>(
    (most, mark) => (mark.occurrenceCount > (most?.occurrenceCount ?? 1) ? mark : most),
    null,
  );
  if (!top) return `${window.length} different steps`;
  return `${top.occurrenceCount} of ${window.length} equal: ${describeTuple(top.tuple)}`;
}

export const describeTuple = (tuple: EntropyTuple): string =>
  [tuple.intent, tuple.tool_call || 'no tool', tuple.action_status].join(' · ');

interface WindowDotsProps {
  window: readonly EntropyTuple[];
}

export const WindowDots = memo(function WindowDots({ window }: WindowDotsProps) {
  return (
    <Base.Trigger
      handle={handle}
      payload={window}
      render={<span />}
      role="img"
      aria-label={describeWindow(window)}
      className="inline-flex h-6 items-center gap-1.5 px-0.5"
    >
      {markTuples(window).map((mark, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the place in the window is the identity.
          key={index}
          className="relative inline-flex"
        >
          {mark.continuesPrevious ? (
            <span className="says-by-colour absolute top-1/2 right-1/2 h-[3px] w-4 -translate-y-1/2 bg-muted/70" />
          ) : null}
          <TupleDot mark={mark} />
        </span>
      ))}
    </Base.Trigger>
  );
});

/** Mounted once per page that shows WindowDots. */
export function WindowDotsTooltip() {
  return (
    <Base.Root handle={handle}>
      {({ payload }) => (
        <Base.Portal>
          <Base.Positioner sideOffset={6} className="z-50">
            <Base.Popup className={tooltipPopupClass}>
              <ol className="flex flex-col gap-1 py-0.5">
                {markTuples(payload ?? []).map((mark, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the place in the window is the identity.
                  <li key={index} className="flex items-center gap-2">
                    <TupleDot mark={mark} />
                    <span className="truncate">{describeTuple(mark.tuple)}</span>
                  </li>
                ))}
              </ol>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      )}
    </Base.Root>
  );
}
