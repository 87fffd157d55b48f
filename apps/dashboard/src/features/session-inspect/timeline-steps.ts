/** The steps of the timeline: live, held and loaded earlier ones as one list. Pure. */
import type { StepView } from '#contracts';

/** Newest first, each step once; the live copy of a step wins over one loaded earlier. */
export function timelineSteps(...parts: readonly (readonly StepView[])[]): StepView[] {
  const bySeq = new Map<number, StepView>();
  for (const part of parts) for (const step of part) bySeq.set(step.gateway.seq, step);
  return [...bySeq.values()].sort((a, b) => b.gateway.seq - a.gateway.seq);
}

/** While the timeline is held, what came after `seq` waits. */
export function splitAtSeq(
  steps: readonly StepView[],
  seq: number,
): { shown: readonly StepView[]; waitingCount: number } {
  const first = steps.findIndex((step) => step.gateway.seq <= seq);
  const waitingCount = first === -1 ? steps.length : first;
  return { shown: steps.slice(waitingCount), waitingCount };
}
