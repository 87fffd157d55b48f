/** Every step of the session, newest first, virtualised. Holds still while somebody reads: new steps wait in a pill. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowUp } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { SessionDetail } from '#contracts';
import { Button, Callout, EmptyState, plural } from '../../ui';
import { StepRow } from './step-row';
import { splitAtSeq, timelineSteps } from './timeline-steps';
import { useEarlierSteps } from './use-earlier-steps';

const ROW_PX = 37;

interface TimelineProps {
  detail: SessionDetail;
  openSeqs: ReadonlySet<number>;
  onToggle: (seq: number) => void;
}

export function Timeline({ detail, openSeqs, onToggle }: TimelineProps) {
  const scrollRef = useRef<HTMLDivElement>(null);
  const earlier = useEarlierSteps(detail.session.session_id);
  const steps = useMemo(
    () => timelineSteps(earlier.steps, detail.steps, detail.held),
    [earlier.steps, detail.steps, detail.held],
  );
  const { shown, waitingCount, isHeld, setIsHeld } = useHeldSteps(steps);
  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => shown[index]?.gateway.seq ?? index,
    overscan: 8,
  });
  const release = useCallback(() => {
    setIsHeld(false);
    scrollRef.current?.scrollTo({ top: 0 });
  }, [setIsHeld]);

  if (steps.length === 0) return <EmptyState title="No steps yet" />;
  const oldestIsFirst = detail.steps.length >= detail.session.step_count;
  return (
    <div className="relative h-full">
      {waitingCount > 0 ? (
        <div className="pointer-events-none absolute inset-x-0 top-2 z-10 flex justify-center">
          <button
            type="button"
            onClick={release}
            className="pointer-events-auto inline-flex h-7 items-center gap-1.5 rounded-full bg-accent-solid px-3 font-medium text-white text-xs shadow-pop hover:bg-accent-solid-hover"
          >
            <ArrowUp size={13} aria-hidden="true" />
            {plural(waitingCount, 'new step')}
          </button>
        </div>
      ) : null}
      {/* Focusable, because a scrolling region has to be reachable by keyboard. */}
      <section
        ref={scrollRef}
        aria-label="Steps, newest first"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
        tabIndex={0}
        className="focus-inset h-full overflow-y-auto"
        onScroll={(event) => setIsHeld(event.currentTarget.scrollTop > 4)}
        onPointerEnter={() => setIsHeld(true)}
        onPointerLeave={(event) => setIsHeld(event.currentTarget.scrollTop > 4)}
        data-held={isHeld}
      >
        <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const step = shown[item.index];
            return step ? (
              <div
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <StepRow step={step} isOpen={openSeqs.has(step.gateway.seq)} onToggle={onToggle} />
              </div>
            ) : null;
          })}
        </div>
        {earlier.failure ? (
          <Callout tone="danger" alert className="m-3">
            {earlier.failure}
          </Callout>
        ) : null}
        {oldestIsFirst || !earlier.hasMore ? (
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

/** While held, steps newer than those on the screen wait; values of those on the screen still change. */
function useHeldSteps(steps: ReturnType<typeof timelineSteps>) {
  const [isHeld, setIsHeld] = useState(false);
  const newestSeq = steps[0]?.gateway.seq ?? 0;
  const [heldSeq, setHeldSeq] = useState(newestSeq);
  if (!isHeld && heldSeq !== newestSeq) setHeldSeq(newestSeq);
  const { shown, waitingCount } = splitAtSeq(steps, isHeld ? heldSeq : newestSeq);
  return { shown, waitingCount, isHeld, setIsHeld };
}
