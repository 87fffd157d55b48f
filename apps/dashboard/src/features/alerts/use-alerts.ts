/** Rules, channels and deliveries. Rules and channels are read again whenever a delivery changes: that is when they may have. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { AlertChannel, AlertDelivery, AlertRule, Page } from '#contracts';
import { api } from '../../api';
import {
  HistoryMark,
  type ListShape,
  liveOverHistory,
  spanOf,
  useTopic,
  useWholeHistory,
} from '../../realtime';

export const RULES_KEY = ['alert-rules'];
export const CHANNELS_KEY = ['alert-channels'];
const REFRESH_MS = 15_000;
const PAGE_ROWS = 50;

export function useRules() {
  useRefreshWithDeliveries(RULES_KEY);
  return useQuery({
    queryKey: RULES_KEY,
    queryFn: async () => (await api.get<{ items: AlertRule[] }>('/v1/alert-rules')).items,
    refetchInterval: REFRESH_MS,
    staleTime: 0,
  });
}

export function useChannels() {
  useRefreshWithDeliveries(CHANNELS_KEY);
  return useQuery({
    queryKey: CHANNELS_KEY,
    queryFn: async () => (await api.get<{ items: AlertChannel[] }>('/v1/alert-channels')).items,
    refetchInterval: REFRESH_MS,
    // A channel may have been made in another tab, for the rule that is begun in this one.
    refetchOnWindowFocus: true,
    staleTime: 0,
  });
}

function useRefreshWithDeliveries(queryKey: readonly string[]): void {
  const { mergedCount } = useTopic('gateway:deliveries');
  const queryClient = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each merge is the reason to read again.
  useEffect(() => {
    if (mergedCount > 1) void queryClient.invalidateQueries({ queryKey });
  }, [mergedCount, queryClient]);
}

const SHAPE: ListShape<AlertDelivery> = {
  idOf: ({ delivery_id }) => delivery_id,
  atOf: ({ created_at_ms }) => created_at_ms,
};

interface DeliveryFilter {
  state?: AlertDelivery['state'] | undefined;
  channel?: string | undefined;
}

/** A delivery whose live state no longer matches leaves the list, although its page still holds it. */
export function useDeliveries({ state, channel }: DeliveryFilter) {
  const { data: live, startCount } = useTopic('gateway:deliveries');
  const [mark] = useState(() => new HistoryMark());
  const query = useInfiniteQuery({
    queryKey: ['alert-deliveries', state ?? null, channel ?? null],
    queryFn: ({ pageParam }) => {
      if (pageParam === null) mark.noteReading();
      return api.get<Page<AlertDelivery>>('/v1/alert-deliveries', {
        state,
        channel_id: channel,
        limit: PAGE_ROWS,
        cursor: pageParam,
      });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: 0,
  });
  // Of every delivery, whatever the filter.
  useWholeHistory(mark, { startCount, span: spanOf(live, SHAPE.atOf) }, query);
  const { data: pages } = query;
  const deliveries = useMemo(() => {
    const all = liveOverHistory(live ?? [], pages?.pages.flatMap(({ items }) => items) ?? [], SHAPE);
    return all.filter(
      (delivery) => (!state || delivery.state === state) && (!channel || delivery.channel_id === channel),
    );
  }, [live, pages, state, channel]);
  return {
    deliveries,
    isLoading: deliveries.length === 0 && query.isPending,
    failure: query.error?.message ?? null,
    hasOlder: query.hasNextPage,
    isLoadingOlder: query.isFetchingNextPage,
    loadOlder: () => void query.fetchNextPage(),
  };
}
