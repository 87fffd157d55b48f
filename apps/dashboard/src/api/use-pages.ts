/** A list that the gateway hands out page by page, newest first unless its route says otherwise. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Page } from '#contracts';
import { api } from './client';
import { readOlder } from './read-older';

interface PagesOptions {
  queryKey: readonly string[];
  path: string;
  pageRows: number;
  /** Absent: read again only when the page is opened anew. */
  refetchIntervalMs?: number;
}

export interface Pages<Item> {
  /** Undefined: on their way. */
  items: readonly Item[] | undefined;
  failure: string | null;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
}

/** None of them has been read, and none failed. */
export const isOnItsWay = ({ items, failure }: Pages<unknown>): boolean =>
  items === undefined && failure === null;

export function usePages<Item>(options: PagesOptions): Pages<Item> {
  const { queryKey, path, pageRows, refetchIntervalMs = false } = options;
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => api.get<Page<Item>>(path, { limit: pageRows, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: refetchIntervalMs,
    staleTime: 0,
  });
  const { data } = query;
  return {
    items: useMemo(() => data?.pages.flatMap(({ items }) => items), [data]),
    failure: query.error?.message ?? null,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void readOlder(query),
  };
}
