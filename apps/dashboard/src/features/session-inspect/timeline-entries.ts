/** What the timeline shows, newest first: the steps of the session, and its semantic loops where they happened. Pure. */
import type { SemanticLoopEvent, StepView } from '#contracts';

export type TimelineEntry =
  | { kind: 'step'; key: string; step: StepView }
  | { kind: 'loop'; key: string; event: SemanticLoopEvent };

/** Newest first, each step once; the live copy of a step wins over one loaded earlier. */
export function timelineSteps(...parts: readonly (readonly StepView[])[]): StepView[] {
  const bySeq = new Map<number, StepView>();
  for (const part of parts) for (const step of part) bySeq.set(step.gateway.seq, step);
  return [...bySeq.values()].sort((a, b) => b.gateway.seq - a.gateway.seq);
}

/**
 * True where there may be steps between the two that are in neither: the live topic has begun anew since the earlier ones
 * were read, or has dropped its oldest.
 *
 * @param earlier newest first
 * @param live oldest first
 */
export function leavesGap([newest]: readonly StepView[], [oldest]: readonly StepView[]): boolean {
  return newest !== undefined && oldest !== undefined && newest.gateway.seq < oldest.gateway.seq;
}

/**
 * Steps keep their order. A loop stands right below the step of its own call, which was recorded when the answer had
 * come; while that step is not there, above the latest step that was received before it.
 *
 * @param steps newest first; the trace id of a proxied step is its call's id
 * @param hasBeginning false: older steps can still be loaded, and loops from before the oldest of these wait for them
 */
export function timelineEntries(
  steps: readonly StepView[],
  loops: readonly SemanticLoopEvent[],
  hasBeginning: boolean,
): TimelineEntry[] {
  const traceIds = new Set(steps.map(({ meta }) => meta.trace_id));
  const byCall = new Map(loops.map((event) => [event.call_id, event]));
  const alone = loops.filter(({ call_id }) => !traceIds.has(call_id)).sort((a, b) => a.at_ms - b.at_ms);
  const entries: TimelineEntry[] = [];
  const add = (event: SemanticLoopEvent) => entries.push({ kind: 'loop', key: event.event_id, event });
  const addFrom = (atMs: number) => {
    for (let last = alone.at(-1); last !== undefined && last.at_ms >= atMs; last = alone.at(-1)) {
      add(last);
      alone.pop();
    }
  };
  for (const step of steps) {
    addFrom(step.gateway.received_at_ms);
    entries.push({ kind: 'step', key: String(step.gateway.seq), step });
    const own = byCall.get(step.meta.trace_id);
    if (own) add(own);
  }
  if (hasBeginning) addFrom(Number.NEGATIVE_INFINITY);
  return entries;
}

/** How far a timeline that is held has come: sequence numbers of the newest step and the newest loop. */
export interface TimelineMark {
  stepSeq: number;
  loopSeq: number;
}

export function markOf(entries: readonly TimelineEntry[]): TimelineMark {
  const mark = { stepSeq: 0, loopSeq: 0 };
  for (const entry of entries) {
    if (entry.kind === 'step') mark.stepSeq = Math.max(mark.stepSeq, entry.step.gateway.seq);
    else mark.loopSeq = Math.max(mark.loopSeq, entry.event.seq);
  }
  return mark;
}

/** While the timeline is held, what came after the mark waits. */
export function splitAtMark(
  entries: readonly TimelineEntry[],
  { stepSeq, loopSeq }: TimelineMark,
): { shown: readonly TimelineEntry[]; waitingCount: number } {
  const shown = entries.filter((entry) =>
    entry.kind === 'step' ? entry.step.gateway.seq <= stepSeq : entry.event.seq <= loopSeq,
  );
  return { shown, waitingCount: entries.length - shown.length };
}
