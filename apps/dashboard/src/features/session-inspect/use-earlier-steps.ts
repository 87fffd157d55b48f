/** Steps older than the live ones, page by page, when asked for; read anew where the two no longer meet. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Page, StepView } from '#contracts';
import { api, readOlder } from '../../api';
import { leavesGap } from './timeline-entries';

const PAGE_ROWS = 200;

/** @param live oldest first */
export function useEarlierSteps(sessionId: string, live: readonly StepView[]) {
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
  const { data, isSuccess, isFetching, refetch } = query;
  const steps = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  const isTorn = leavesGap(steps, live);
  useEffect(() => {
    if (isTorn && isSuccess && !isFetching) void refetch();
  }, [isTorn, isSuccess, isFetching, refetch]);
  return {
    steps,
    isLoading: isFetching,
    failure: query.error?.message ?? null,
    /** Something older may exist. */
    hasMore: query.data === undefined || query.hasNextPage,
    loadMore: () => void (query.data === undefined ? query.refetch() : readOlder(query)),
  };
}
