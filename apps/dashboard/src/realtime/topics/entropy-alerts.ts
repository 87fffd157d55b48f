/** `gateway:entropy_alerts`: every alert of one session's loop folded into one row. @see FR-9.10 */
import { type AlertGroup, LIMITS, type RaisedAlert } from '#contracts';
import type { TopicMerge } from '../topic-merge';
import { cutBack } from './cut-back';

/** As many as there are sessions: an alert without one is over. */
const GROUP_COUNT_MAX = LIMITS.listedSessionsMax;

export type EntropyAlertsData = ReadonlyMap<string, AlertGroup>;

/** The session appears once, however many alerts arrive for it. */
export const entropyAlertsMerge: TopicMerge<EntropyAlertsData, AlertGroup[], RaisedAlert> = {
  start: (snapshot) => new Map(snapshot.map((group) => [group.session_id, group])),
  apply(data, events) {
    const next = new Map(data);
    for (const event of events) next.set(event.session_id, groupBehind(event));
    return cutBack(next, GROUP_COUNT_MAX, ({ session_id }) => session_id, latest);
  },
};

const latest = (groups: AlertGroup[]): AlertGroup[] =>
  groups.sort((a, b) => b.last_at_ms - a.last_at_ms).slice(0, GROUP_COUNT_MAX);

/** As the gateway counts: only it knows that a loop was over. */
const groupBehind = (latest: RaisedAlert): AlertGroup => {
  const { session_id, agent_id, alert_count, first_at_ms, at_ms } = latest;
  return { session_id, agent_id, alert_count, first_at_ms, last_at_ms: at_ms, latest };
};
