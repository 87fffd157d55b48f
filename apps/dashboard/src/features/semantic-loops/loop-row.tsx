/** A semantic loop in the timeline, beside the steps: one line that opens to both prompts. */
import { ChevronRight, Repeat2 } from 'lucide-react';
import { memo } from 'react';
import type { SemanticLoopEvent } from '#contracts';
import { rowFocus } from '../../app/keyboard/use-row-focus';
import { Badge, cx, RelativeTime } from '../../ui';
import { LoopEvidence } from './loop-evidence';
import {
  ACTION_BADGES,
  actionText,
  againstThreshold,
  formatSimilarity,
  REPEAT_TEXTS,
  repeatOf,
} from './loop-texts';

interface LoopRowProps {
  event: SemanticLoopEvent;
  isOpen: boolean;
  onToggle: (eventId: string) => void;
}

export const LoopRow = memo(function LoopRow({ event, isOpen, onToggle }: LoopRowProps) {
  const { label, tone } = ACTION_BADGES[event.action];
  return (
    <div
      data-testid="loop-row"
      data-event-id={event.event_id}
      className="border-line border-b border-l-[3px] border-l-warning-line bg-warning-soft/40"
    >
      <button
        type="button"
        {...rowFocus}
        aria-expanded={isOpen}
        onClick={() => onToggle(event.event_id)}
        className="focus-inset flex min-h-9 w-full items-center gap-2.5 py-1.5 pr-3 pl-[9px] text-left hover:bg-hover"
      >
        <ChevronRight
          size={13}
          aria-hidden="true"
          className={cx('shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
        />
        <Repeat2 size={13} aria-hidden="true" className="-mx-[2.5px] shrink-0 text-warning" />
        <span className="min-w-0 flex-1 truncate max-md:whitespace-normal">
          <span className="font-medium">{REPEAT_TEXTS[repeatOf(event)].asked}</span>
          <span className="ml-2 text-muted text-xs max-md:hidden">{event.prompt}</span>
        </span>
        <span
          title={`Similarity ${againstThreshold(event)}`}
          className="nums shrink-0 text-warning text-xs max-md:hidden"
        >
          <span className="sr-only">Similarity </span>
          {formatSimilarity(event.similarity)}
        </span>
        <Badge tone={tone} title={actionText(event)} className="min-w-16 justify-center">
          {label}
        </Badge>
        {/* Where a step tells how long it took. */}
        <span className="w-18 shrink-0 max-xl:hidden" />
        <span className="w-14 shrink-0 text-right text-muted text-xs">
          <RelativeTime atMs={event.at_ms} short />
        </span>
      </button>
      {isOpen ? (
        <div className="border-line border-t bg-sunken/50 px-3 py-3 pl-8 max-md:pl-3">
          <LoopEvidence event={event} />
        </div>
      ) : null}
    </div>
  );
});
