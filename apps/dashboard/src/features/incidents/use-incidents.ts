/** Incidents: those of the live topic over those read page by page, newest first; and one by its id. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Incident, Page } from '#contracts';
import { api } from '../../api';
import { isOpenIncident } from '../../app/stopped-agents';
import { besideLive, type ListShape, useLiveList, useTopic } from '../../realtime';
import type { IncidentState } from './incidents-search';

const PAGE_ROWS = 50;
const SHAPE: ListShape<Incident> = { idOf: ({ incident_id }) => incident_id, atOf: ({ at_ms }) => at_ms };

/** @param agentId undefined: of every agent @param state undefined: open ones and others */
export function useIncidents(agentId: string | undefined, state?: IncidentState) {
  const topic = useTopic('gateway:incidents');
  const live = useMemo(
    () => (topic.data ?? []).filter((incident) => !agentId || incident.agent_id === agentId),
    [topic.data, agentId],
  );
  const { items, isPending, ...list } = useLiveList({
    topic,
    live,
    shape: SHAPE,
    queryKey: ['incidents', agentId ?? null, state ?? null],
    readPage: (cursor) =>
      api.get<Page<Incident>>('/v1/incidents', {
        agent_id: agentId,
        open: state && String(state === 'open'),
        limit: PAGE_ROWS,
        cursor,
      }),
  });
  // Now and not before: the live copy of one that was read as open may say that it is over.
  const incidents = items.filter((incident) => !state || isOpenIncident(incident) === (state === 'open'));
  return { incidents, isLoading: incidents.length === 0 && isPending, ...list };
}

/** The live copy of an incident says at once when somebody else reactivates. */
export function useIncident(incidentId: string): { incident: Incident | undefined; failure: string | null } {
  const { data: live, startCount } = useTopic('gateway:incidents');
  const known = live?.find(({ incident_id }) => incident_id === incidentId);
  const query = useQuery({
    ...besideLive(['incident', incidentId], startCount, () =>
      api.get<Incident>(`/v1/incidents/${encodeURIComponent(incidentId)}`),
    ),
    enabled: live !== null && known === undefined,
  });
  return { incident: known ?? query.data, failure: query.error?.message ?? null };
}
