/** `GET /v1/system`, asked every few seconds, and whether what is shown still is true. */
import { useQuery } from '@tanstack/react-query';
import type { SystemView } from '#contracts';
import { api } from '../../api';
import { useNow } from '../../ui';

const REFRESH_MS = 3_000;
/** Older figures are said to be old: a few answers in a row did not come. */
const STALE_AFTER_MS = 10_000;

export interface SystemState {
  view: SystemView | undefined;
  /** Why the latest question got no answer. */
  failure: string | null;
  /** When the answer came that is shown; 0 before the first. */
  updatedAtMs: number;
  isStale: boolean;
}

export function useSystem(): SystemState {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['system'],
    queryFn: () => api.get<SystemView>('/v1/system'),
    refetchInterval: REFRESH_MS,
    refetchOnWindowFocus: true,
    staleTime: 0,
    retry: false,
  });
  const isStale = useNow((nowMs) => dataUpdatedAt > 0 && nowMs - dataUpdatedAt > STALE_AFTER_MS);
  return { view: data, failure: error?.message ?? null, updatedAtMs: dataUpdatedAt, isStale };
}
