/** One agent, live; asked for by itself until the topic has it. */
import { useQuery } from '@tanstack/react-query';
import type { AgentView } from '#contracts';
import { agentPath, api } from '../../api';
import { besideLive, useTopic } from '../../realtime';

export function useAgent(agentId: string): { agent: AgentView | undefined; failure: string | null } {
  const { data, startCount } = useTopic('gateway:agents');
  const live = data?.get(agentId);
  const query = useQuery({
    ...besideLive(['agent', agentId], startCount, () => api.get<AgentView>(agentPath(agentId))),
    enabled: live === undefined,
  });
  return { agent: live ?? query.data, failure: query.error?.message ?? null };
}
