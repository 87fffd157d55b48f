/** `gateway:all_agents`: the latest view of all agents taken together. */
import type { AllAgentsView } from '#contracts';
import type { TopicMerge } from '../topic-merge';

export const allAgentsMerge: TopicMerge<AllAgentsView, AllAgentsView, AllAgentsView> = {
  start: (snapshot) => snapshot,
  apply: (data, events) => events.at(-1) ?? data,
};
