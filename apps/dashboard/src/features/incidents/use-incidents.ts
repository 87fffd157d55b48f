/** Incidents: those of the live topic over those read page by page, newest first; and one by its id. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Incident, Page } from '#contracts';
import { api } from '../../api';
import {
  HistoryMark,
  type ListShape,
  liveOverHistory,
  spanOf,
  useTopic,
  useWholeHistory,
} from '../../realtime';

const PAGE_ROWS = 50;
const SHAPE: ListShape<Incident> = { idOf: ({ incident_id }) => incident_id, atOf: ({ at_ms }) => at_ms };

/** @param agentId undefined: of every agent */
export function useIncidents(agentId: string | undefined) {
  const { data: live, startCount } = useTopic('gateway:incidents');
  const [mark] = useState(() => new HistoryMark());
  const query = useInfiniteQuery({
    queryKey: ['incidents', agentId ?? null],
    queryFn: ({ pageParam }) => {
      if (pageParam === null) mark.noteReading();
      return api.get<Page<Incident>>('/v1/incidents', {
        agent_id: agentId,
        limit: PAGE_ROWS,
        cursor: pageParam,
      });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: 0,
  });
  // Of every incident, whatever the filter.
  useWholeHistory(mark, { startCount, span: spanOf(live, SHAPE.atOf) }, query);
  const { data: pages } = query;
  const incidents = useMemo(() => {
    const own = (live ?? []).filter((incident) => !agentId || incident.agent_id === agentId);
    return liveOverHistory(own, pages?.pages.flatMap(({ items }) => items) ?? [], SHAPE);
  }, [live, pages, agentId]);
  return {
    incidents,
    isLoading: incidents.length === 0 && query.isPending,
    failure: query.error?.message ?? null,
    hasOlder: query.hasNextPage,
    isLoadingOlder: query.isFetchingNextPage,
    loadOlder: () => void query.fetchNextPage(),
  };
}

/** The live copy of an incident says at once when somebody else reactivates. */
export function useIncident(incidentId: string): { incident: Incident | undefined; failure: string | null } {
  const { data: live } = useTopic('gateway:incidents');
  const known = live?.find(({ incident_id }) => incident_id === incidentId);
  const query = useQuery({
    queryKey: ['incident', incidentId],
    queryFn: () => api.get<Incident>(`/v1/incidents/${encodeURIComponent(incidentId)}`),
    enabled: live !== null && known === undefined,
    staleTime: 0,
  });
  return { incident: known ?? query.data, failure: query.error?.message ?? null };
}
