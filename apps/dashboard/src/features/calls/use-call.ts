/** One call by its id: from what is on the page already, else asked for. */
import { useQuery } from '@tanstack/react-query';
import type { LlmCall } from '#contracts';
import { api } from '../../api';

export function useCall(callId: string | null, known: LlmCall | undefined) {
  const query = useQuery({
    queryKey: ['call', callId],
    queryFn: () => api.get<LlmCall>(`/v1/calls/${encodeURIComponent(callId ?? '')}`),
    enabled: callId !== null && known === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { call: known ?? query.data, failure: query.error?.message ?? null };
}
