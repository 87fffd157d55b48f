/** `GET /v1/system`, asked every few seconds, and whether what is shown still is true. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SystemView } from '#contracts';
import { gatewayNowMs, systemQuery } from '../../api';
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
  const { data, error } = useQuery({
    ...systemQuery,
    refetchInterval: REFRESH_MS,
  });
  const updatedAtMs = data?.atMs ?? 0;
  // What the navigation asked for last may be older than that, and is asked for anew.
  const [openedAtMs] = useState(gatewayNowMs);
  const isStale = useNow(
    (nowMs) => updatedAtMs > 0 && nowMs - Math.max(updatedAtMs, openedAtMs) > STALE_AFTER_MS,
  );
  return { view: data?.view, failure: error?.message ?? null, updatedAtMs, isStale };
}
