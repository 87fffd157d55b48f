/** Rules, channels and deliveries. Rules and channels are read again whenever a delivery changes: that is when they may have. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { AlertDelivery, AlertRule, Page } from '#contracts';
import { api, CHANNELS_KEY, channelsQuery } from '../../api';
import { type ListShape, useLiveList, useTopic } from '../../realtime';
import { useThrottled } from '../../ui';

export const RULES_KEY = ['alert-rules'];
const REFRESH_MS = 15_000;
/** No oftener, however many deliveries change: of a fleet that fires, the rules are long to read. */
const READ_AGAIN_MS = 1_000;
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
  return useQuery(channelsQuery);
}

function useRefreshWithDeliveries(queryKey: readonly string[]): void {
  const mergedCount = useThrottled(useTopic('gateway:deliveries').mergedCount, READ_AGAIN_MS);
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

const NONE: readonly AlertDelivery[] = [];

/** A delivery whose live state no longer matches leaves the list, although its page still holds it. */
export function useDeliveries({ state, channel }: DeliveryFilter) {
  const topic = useTopic('gateway:deliveries');
  const { items, isPending, ...list } = useLiveList({
    topic,
    live: topic.data ?? NONE,
    shape: SHAPE,
    queryKey: ['alert-deliveries', state ?? null, channel ?? null],
    readPage: (cursor) =>
      api.get<Page<AlertDelivery>>('/v1/alert-deliveries', {
        state,
        channel_id: channel,
        limit: PAGE_ROWS,
        cursor,
      }),
  });
  const deliveries = useMemo(
    () =>
      items.filter(
        (delivery) => (!state || delivery.state === state) && (!channel || delivery.channel_id === channel),
      ),
    [items, state, channel],
  );
  return { deliveries, isLoading: deliveries.length === 0 && isPending, ...list };
}
