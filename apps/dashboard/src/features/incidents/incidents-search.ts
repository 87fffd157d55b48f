/** What the Incidents pages show, in the address. */
import { dropAbsent, flagOf, oneOf, textOf } from '../../app/search-values';

const INCIDENT_STATES = ['open', 'closed'] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

export interface IncidentsSearch {
  agent?: string;
  state?: IncidentState;
}

export interface IncidentSearch {
  /** Also the requests of the window that did not count. */
  all?: true;
}

export function parseIncidentsSearch(search: Record<string, unknown>): IncidentsSearch {
  return dropAbsent({
    agent: textOf(search.agent),
    state: oneOf(INCIDENT_STATES, search.state),
  }) as IncidentsSearch;
}

export function parseIncidentSearch(search: Record<string, unknown>): IncidentSearch {
  return dropAbsent({ all: flagOf(search.all) }) as IncidentSearch;
}
