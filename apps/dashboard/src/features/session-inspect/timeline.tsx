/**
 * Every step of the session and its semantic loops, newest first, virtualised. Holds still while somebody reads: what is
 * new waits in a pill.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { SessionDetail, SessionView } from '#contracts';
import { useRowFocus } from '../../app/keyboard/use-row-focus';
import { Button, Callout, EmptyState, NewPill, useOverscan, usePointing } from '../../ui';
import { LoopRow } from '../semantic-loops/loop-row';
import { StepRow } from './step-row';
import { markOf, splitAtMark, type TimelineEntry, timelineEntries, timelineSteps } from './timeline-entries';
import { useEarlierSteps } from './use-earlier-steps';
import { whyNoSteps } from './why-no-steps';

const ROW_PX = 37;

interface TimelineProps {
  detail: SessionDetail;
  openSeqs: ReadonlySet<number>;
  onToggle: (seq: number) => void;
}

export function Timeline({ detail, openSeqs, onToggle }: TimelineProps) {
  const scrollRef = useRef<HTMLDivElement>(null);
  useRowFocus(scrollRef);
  const earlier = useEarlierSteps(detail.session.session_id, detail.steps);
  const steps = useMemo(
    () => timelineSteps(earlier.steps, detail.steps, detail.held),
    [earlier.steps, detail.steps, detail.held],
  );
  const hasBeginning = detail.steps.length >= detail.session.step_count || !earlier.hasMore;
  const entries = useMemo(
    () => timelineEntries(steps, detail.semantic_loops, hasBeginning),
    [steps, detail.semantic_loops, hasBeginning],
  );
  const { shown, waitingCount, setIsHeld } = useHeldEntries(entries);
  const pointing = usePointing((isPointing) =>
    setIsHeld(isPointing || (scrollRef.current !== null && isRead(scrollRef.current))),
  );
  const [openLoops, setOpenLoops] = useState<ReadonlySet<string>>(new Set());
  const toggleLoop = useCallback((eventId: string) => {
    setOpenLoops((before) => {
      const next = new Set(before);
      if (!next.delete(eventId)) next.add(eventId);
      return next;
    });
  }, []);
  const overscan = useOverscan(8);
  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => shown[index]?.key ?? index,
    overscan,
  });
  const release = useCallback(() => {
    setIsHeld(false);
    scrollRef.current?.scrollTo({ top: 0 });
  }, [setIsHeld]);

  if (entries.length === 0) return <NoSteps session={detail.session} />;
  return (
    // The pill lies within: where it comes up below the pointer, and on its way there, the pointer must not let the steps go.
    <div className="relative h-full" {...pointing}>
      <NewPill count={waitingCount} onRelease={release} />
      {/* Focusable, because a scrolling region has to be reachable by keyboard. */}
      <section
        ref={scrollRef}
        aria-label="Steps, newest first"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
        tabIndex={0}
        className="focus-inset h-full overflow-y-auto"
        onScroll={({ currentTarget }) => setIsHeld(isRead(currentTarget))}
        onFocus={({ currentTarget }) => isRead(currentTarget) && setIsHeld(true)}
        onBlur={({ currentTarget, relatedTarget }) =>
          currentTarget.contains(relatedTarget) || setIsHeld(isRead(currentTarget))
        }
      >
        <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const entry = shown[item.index];
            return entry ? (
              <div
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {entry.kind === 'step' ? (
                  <StepRow
                    step={entry.step}
                    isOpen={openSeqs.has(entry.step.gateway.seq)}
                    onToggle={onToggle}
                  />
                ) : (
                  <LoopRow
                    event={entry.event}
                    isOpen={openLoops.has(entry.event.event_id)}
                    onToggle={toggleLoop}
                  />
                )}
              </div>
            ) : null;
          })}
        </div>
        {earlier.failure ? (
          <Callout tone="danger" alert className="m-3">
            {earlier.failure}
          </Callout>
        ) : null}
        {hasBeginning ? (
          <p className="p-3 text-center text-faint text-xs">The session begins here.</p>
        ) : (
          <div className="flex justify-center p-3">
            <Button size="sm" busy={earlier.isLoading} onClick={earlier.loadMore}>
              Load earlier steps
            </Button>
          </div>
        )}
      </section>
    </div>
  );
}

/** Scrolled, or walked through by keyboard: the row that has the focus would wander off, and lose it where none is drawn. */
const isRead = (list: HTMLElement): boolean =>
  list.scrollTop > 4 || list.querySelector(':focus-visible') !== null;

/** While held, what is newer than what is on the screen waits; values of what is on it still change. */
function useHeldEntries(entries: readonly TimelineEntry[]) {
  const [isHeld, setIsHeld] = useState(false);
  const newest = useMemo(() => markOf(entries), [entries]);
  const [held, setHeld] = useState(newest);
  const isBehind = held.stepSeq !== newest.stepSeq || held.loopSeq !== newest.loopSeq;
  if (!isHeld && isBehind) setHeld(newest);
  const split = useMemo(() => splitAtMark(entries, isHeld ? held : newest), [entries, isHeld, held, newest]);
  return { ...split, setIsHeld };
}

const NoSteps = ({ session }: { session: SessionView }) => (
  <EmptyState title="No steps yet">
    <WhyNoSteps session={session} />
  </EmptyState>
);

function WhyNoSteps({ session }: { session: SessionView }) {
  switch (whyNoSteps(session)) {
    case 'held':
      return 'What it did so far is held: see Held messages. It comes here once the session goes on.';
    case 'tool':
      return (
        <>
          The first waits for what <code className="break-all">{session.last_tool}</code> comes back with. Its
          call is under Calls.
        </>
      );
    case 'answer':
      return 'Its first call is under way. It is a step once it has its answer.';
    case 'stepless':
      return 'Its calls so far made none: embeddings, answers that were cut off and calls beyond so many a second do not. They are under Calls.';
    case null:
      return null;
  }
}
