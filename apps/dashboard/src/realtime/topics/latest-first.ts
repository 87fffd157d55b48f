/** Topics whose events are things with an id: incidents, deliveries and semantic loops, newest first, bounded: loops by the sessions that have them. */
import type { AlertDelivery, Incident, SemanticLoopEvent } from '#contracts';
import { loopSpans } from '../loop-spans';
import type { TopicMerge } from '../topic-merge';

/** Things of one topic kept in memory; older ones can be read again page by page. */
export const LATEST_COUNT_MAX = 500;

/** Of loops, where it is the sessions that have most of these: a page that stays open for days hears of ever more. */
const LOOPS_COUNT_MAX = 10 * LATEST_COUNT_MAX;

/** An event replaces what has its id, in place, or is new and comes first. @param cut what stays of more than there is room for */
function latestFirstMerge<T>(
  idOf: (thing: T) => string,
  cut: (things: readonly T[]) => readonly T[] = (things) => things.slice(0, LATEST_COUNT_MAX),
): TopicMerge<readonly T[], T[], T> {
  return {
    start: (snapshot) => snapshot,
    apply(data, events) {
      const next = [...data];
      for (const event of events) {
        const at = next.findIndex((known) => idOf(known) === idOf(event));
        if (at === -1) next.unshift(event);
        else next[at] = event;
      }
      return next.length > LATEST_COUNT_MAX ? cut(next) : next;
    },
  };
}

export const incidentsMerge = latestFirstMerge<Incident>(({ incident_id }) => incident_id);
export const deliveriesMerge = latestFirstMerge<AlertDelivery>(({ delivery_id }) => delivery_id);
export const semanticLoopsMerge = latestFirstMerge<SemanticLoopEvent>(
  ({ event_id }) => event_id,
  firstAndLatestOfSessions,
);

/** Of each session the latest loop that came further than a hint, and the first of the same: an alert stays however much loops elsewhere. */
function firstAndLatestOfSessions(newestFirst: readonly SemanticLoopEvent[]): readonly SemanticLoopEvent[] {
  const spans = loopSpans(newestFirst);
  const kept = newestFirst.filter((event, place) => {
    const span = spans.get(event.session_id);
    if (span?.alerted === event) return true;
    return span?.first === event && (span.alerted !== null || place < LATEST_COUNT_MAX);
  });
  return kept.slice(0, LOOPS_COUNT_MAX);
}
