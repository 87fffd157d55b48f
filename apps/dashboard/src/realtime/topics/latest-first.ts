/** Topics whose events are things with an id: incidents, deliveries and semantic loops, newest first, bounded. */
import type { AlertDelivery, Incident, SemanticLoopEvent } from '#contracts';
import type { TopicMerge } from '../topic-merge';

/** Things of one topic kept in memory; older ones can be read again page by page. */
export const LATEST_COUNT_MAX = 500;

/** An event replaces what has its id, in place, or is new and comes first. */
function latestFirstMerge<T>(idOf: (thing: T) => string): TopicMerge<readonly T[], T[], T> {
  return {
    start: (snapshot) => snapshot,
    apply(data, events) {
      const next = [...data];
      for (const event of events) {
        const at = next.findIndex((known) => idOf(known) === idOf(event));
        if (at === -1) next.unshift(event);
        else next[at] = event;
      }
      return next.length > LATEST_COUNT_MAX ? next.slice(0, LATEST_COUNT_MAX) : next;
    },
  };
}

export const incidentsMerge = latestFirstMerge<Incident>(({ incident_id }) => incident_id);
export const deliveriesMerge = latestFirstMerge<AlertDelivery>(({ delivery_id }) => delivery_id);
export const semanticLoopsMerge = latestFirstMerge<SemanticLoopEvent>(({ event_id }) => event_id);
