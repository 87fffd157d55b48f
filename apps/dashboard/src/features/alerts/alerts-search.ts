/** What the Alerts page shows, in the address. */
import { DELIVERY_STATES } from '#contracts';
import { dropAbsent, oneOf, textOf } from '../../app/search-values';

const ALERT_TABS = ['rules', 'channels', 'history', 'dead'] as const;
export type AlertTab = (typeof ALERT_TABS)[number];

export interface AlertsSearch {
  /** Absent: rules. */
  tab?: AlertTab;
  /** Of the history: one state. */
  state?: (typeof DELIVERY_STATES)[number];
  /** Of history and dead letters: one channel. */
  channel?: string;
  /** The rule or the channel that somebody was led to. */
  named?: string;
}

export function parseAlertsSearch(search: Record<string, unknown>): AlertsSearch {
  return dropAbsent({
    tab: oneOf(ALERT_TABS, search.tab),
    state: oneOf(DELIVERY_STATES, search.state),
    channel: textOf(search.channel),
    named: textOf(search.named),
  }) as AlertsSearch;
}
