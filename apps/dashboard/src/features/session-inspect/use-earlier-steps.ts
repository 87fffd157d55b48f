/** Steps older than the live snapshot, page by page, when asked for. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Page, StepView } from '#contracts';
import { api } from '../../api';

const PAGE_ROWS = 200;

export function useEarlierSteps(sessionId: string) {
  const query = useInfiniteQuery({
    queryKey: ['steps', sessionId],
    enabled: false,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      api.get<Page<StepView>>(`/v1/sessions/${encodeURIComponent(sessionId)}/decision-logs`, {
        order: 'desc',
        limit: PAGE_ROWS,
        cursor: pageParam,
      }),
    getNextPageParam: (page) => page.next_cursor,
  });
  const { data } = query;
  const steps = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  return {
    steps,
    isLoading: query.isFetching,
    failure: query.error?.message ?? null,
    /** Something older may exist. */
    hasMore: query.data === undefined || query.hasNextPage,
    loadMore: () => void (query.data === undefined ? query.refetch() : query.fetchNextPage()),
  };
}
