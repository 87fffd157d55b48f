/** What calls cost, as the gateway sums it up: asked for anew every few seconds. */
import { matchQuery, useQuery } from '@tanstack/react-query';
import type { SpendGroup, SpendLine } from '#contracts';
import { api } from '../../api';
import type { Span } from './spend-range';
import type { SpendSearch } from './spend-search';

const REFRESH_MS = 15_000;

/** @param search what the span was made of, and whose calls and of which model alone */
export function useSpend(
  group: SpendGroup,
  { from_ms, to_ms }: Pick<Span, 'from_ms' | 'to_ms'>,
  { range, from, to, agent, model }: SpendSearch,
) {
  const asked = ['spend', group, range ?? null, from ?? null, to ?? null, agent ?? null, model ?? null];
  return useQuery({
    queryKey: [...asked, from_ms, to_ms],
    queryFn: async () =>
      (
        await api.get<{ items: SpendLine[] }>('/v1/spend', {
          group,
          from_ms,
          to_ms,
          agent_id: agent,
          model,
        })
      ).items,
    refetchInterval: REFRESH_MS,
    staleTime: 0,
    // As time goes on, the last answer stands until the next; that to another question never does.
    placeholderData: (lines, before) =>
      before && matchQuery({ queryKey: asked }, before) ? lines : undefined,
  });
}
