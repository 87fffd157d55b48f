/** A list that a live topic continues: what the topic holds, over what was read page by page, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Page } from '#contracts';
import { readOlder } from '../api';
import { HistoryMark, spanOf, useWholeHistory } from './history-mark';
import { type ListShape, liveOverHistory } from './live-over-history';
import type { TopicState } from './topic-state';

interface LiveListOptions<T> {
  topic: Pick<TopicState<readonly T[]>, 'data' | 'startCount'>;
  /** Of the topic's, those that belong to the list; the same list until one of them changes. */
  live: readonly T[];
  shape: ListShape<T>;
  /** Names the filter, too. */
  queryKey: readonly unknown[];
  /** @param cursor null: the newest page */
  readPage: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>;
}

export interface LiveList<T> {
  items: readonly T[];
  /** No page has been read yet. */
  isPending: boolean;
  failure: string | null;
  hasOlder: boolean;
  /** Or all of it anew. */
  isLoadingOlder: boolean;
  loadOlder: () => void;
}

export function useLiveList<T>({ topic, live, shape, queryKey, readPage }: LiveListOptions<T>): LiveList<T> {
  const { data, startCount } = topic;
  const [mark] = useState(() => new HistoryMark());
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      if (pageParam === null) mark.noteReading();
      return readPage(pageParam, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: 0,
  });
  // Of all that the topic holds, whatever the filter.
  useWholeHistory(mark, { startCount, span: spanOf(data, shape.atOf) }, query);
  const { data: history } = query;
  const items = useMemo(
    () => liveOverHistory(live, history?.pages.flatMap((page) => page.items) ?? [], shape),
    [live, history, shape],
  );
  return {
    items,
    isPending: query.isPending,
    failure: query.error?.message ?? null,
    hasOlder: query.hasNextPage,
    isLoadingOlder: query.isFetching,
    loadOlder: () => void readOlder(query),
  };
}
