/** `gateway:entropy_alerts`: every alert of one session folded into one row. @see FR-9.10 */
import { type AlertGroup, type EntropyAlertEvent, LIMITS } from '#contracts';
import type { TopicMerge } from '../topic-merge';
import { cutBack } from './cut-back';

/** As many as there are sessions: an alert without one is over. */
const GROUP_COUNT_MAX = LIMITS.listedSessionsMax;

export type EntropyAlertsData = ReadonlyMap<string, AlertGroup>;

/** The session appears once, however many alerts arrive for it. */
export const entropyAlertsMerge: TopicMerge<EntropyAlertsData, AlertGroup[], EntropyAlertEvent> = {
  start: (snapshot) => new Map(snapshot.map((group) => [group.session_id, group])),
  apply(data, events) {
    const next = new Map(data);
    for (const event of events) next.set(event.session_id, foldAlert(next.get(event.session_id), event));
    return cutBack(next, GROUP_COUNT_MAX, ({ session_id }) => session_id, latest);
  },
};

const latest = (groups: AlertGroup[]): AlertGroup[] =>
  groups.sort((a, b) => b.last_at_ms - a.last_at_ms).slice(0, GROUP_COUNT_MAX);

function foldAlert(group: AlertGroup | undefined, event: EntropyAlertEvent): AlertGroup {
  return {
    session_id: event.session_id,
    agent_id: event.agent_id,
    alert_count: (group?.alert_count ?? 0) + 1,
    first_at_ms: group?.first_at_ms ?? event.at_ms,
    last_at_ms: event.at_ms,
    latest: event,
  };
}
