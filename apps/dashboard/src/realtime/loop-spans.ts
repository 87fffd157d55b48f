/** From which loop to which a session has asked the same. A loop that it was over is another. Pure. */
import { countsOn, type SemanticLoopEvent } from '#contracts';

export interface LoopSpan {
  /** The latest that came further than a hint; null: none did. */
  alerted: SemanticLoopEvent | null;
  /** The first from which counting went on to `alerted`, or to the latest where none alerted. */
  first: SemanticLoopEvent;
}

/** By session. @param newestFirst of any sessions */
export function loopSpans(newestFirst: readonly SemanticLoopEvent[]): Map<string, LoopSpan> {
  const spans = new Map<string, LoopSpan>();
  /** What is older is of a loop that was over. */
  const begun = new Set<LoopSpan>();
  for (const event of newestFirst) {
    const span = spans.get(event.session_id);
    const isAlert = event.action === 'alerted' || event.action === 'paused';
    if (span === undefined || (span.alerted === null && isAlert))
      spans.set(event.session_id, { alerted: isAlert ? event : null, first: event });
    else if (!begun.has(span) && countsOn(event, span.first)) span.first = event;
    else begun.add(span);
  }
  return spans;
}
