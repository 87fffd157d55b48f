/**
 * What a search finds in the store that is not on the page: the live list holds the sessions that matter most, and somebody
 * asks for one of last week. Asked for only where nothing listed matches, or the list has not room for all that live: a search
 * for what is rare reads a good part of the store.
 */
import { useQuery } from '@tanstack/react-query';
import type { Page, SessionView } from '#contracts';
import { api } from '../../api';
import { type SessionsData, useTopic } from '../../realtime';
import type { ListSearch } from './list-search';

const SHOWN_MAX = 10;
const NONE_LISTED: SessionsData = new Map();

export interface StoredMatches {
  /** Latest first; those that are listed were left out by another filter, and are not among them. */
  found: readonly SessionView[];
  /** There are others that match. */
  hasMore: boolean;
  isLooking: boolean;
}

export type StoredFilter = {
  [K in 'q' | 'severity' | 'agent' | 'ended' | 'control']?: ListSearch[K] | undefined;
};

/** Nothing is asked for where nothing narrows the list, or only how sessions are controlled, which the store does not look for. */
export function useStoredMatches({ q, severity, agent, ended, control }: StoredFilter): StoredMatches {
  const listed = useTopic('gateway:sessions').data ?? NONE_LISTED;
  const filter = { q, severity, agent_id: agent, ended: ended && String(ended === 'ended') };
  const isNarrowed = severity !== undefined || agent !== undefined || ended !== undefined;
  const { data, isLoading } = useQuery({
    queryKey: ['sessions-stored', filter],
    queryFn: ({ signal }) =>
      api.get<Page<SessionView>>('/v1/sessions', { ...filter, limit: SHOWN_MAX }, signal),
    enabled: q !== undefined || (isNarrowed && control === undefined),
  });
  return {
    found: data?.items.filter(({ session_id }) => !listed.has(session_id)) ?? [],
    hasMore: Boolean(data?.next_cursor),
    isLooking: isLoading,
  };
}
