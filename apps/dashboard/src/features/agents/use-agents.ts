/**
 * The agents that a list or the palette looks among: those of the live topic, and where it has not room for all of them, those
 * whose id has the words that are looked for.
 */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type AgentView, LIMITS } from '#contracts';
import { api } from '../../api';
import { type AgentsData, NO_AGENTS, useTopic } from '../../realtime';

export interface FoundAgents {
  agents: AgentsData;
  /** There may be others. */
  hasMore: boolean;
  /** Others are looked for. */
  isLooking: boolean;
}

/** @param words empty: nobody looks for one */
export function useAgents(words = ''): FoundAgents {
  const listed = useTopic('gateway:agents').data ?? NO_AGENTS;
  const q = words.trim();
  const hasMore = listed.size >= LIMITS.listedAgentsMax;
  const { data: found, isLoading } = useQuery({
    queryKey: ['agents-found', q],
    queryFn: async ({ signal }) =>
      (await api.get<{ items: AgentView[] }>('/v1/agents', { q: q.slice(0, LIMITS.idCharsMax) }, signal))
        .items,
    enabled: hasMore && q !== '',
  });
  const agents = useMemo(
    () => (found ? new Map([...found.map((agent) => [agent.agent_id, agent] as const), ...listed]) : listed),
    [found, listed],
  );
  return { agents, hasMore, isLooking: isLoading };
}
