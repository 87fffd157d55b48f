/** Every topic and what the page holds for it. */
import type { SessionTopic, Topic, TopicShapes } from '#contracts';
import type { TopicMerge } from './topic-merge';
import { type AgentsData, agentsMerge } from './topics/agents';
import { allAgentsMerge } from './topics/all-agents';
import { type EntropyAlertsData, entropyAlertsMerge } from './topics/entropy-alerts';
import { callsMerge, messagesMerge, statsMerge, violationsMerge } from './topics/feeds';
import { deliveriesMerge, incidentsMerge, semanticLoopsMerge } from './topics/latest-first';
import { type SessionData, sessionDetailMerge } from './topics/session-detail';
import { type SessionsData, sessionsMerge } from './topics/sessions';
import { type TopologyData, topologyMerge } from './topics/topology';

/** Topic -> what `useTopic` gives as `data`. Feeds are newest last; incidents and deliveries, which change, newest first. */
export interface TopicData {
  'gateway:messages': readonly TopicShapes['gateway:messages']['event'][];
  'gateway:violations': readonly TopicShapes['gateway:violations']['event'][];
  'gateway:topology': TopologyData;
  'gateway:entropy_alerts': EntropyAlertsData;
  'gateway:incidents': readonly TopicShapes['gateway:incidents']['event'][];
  'gateway:calls': readonly TopicShapes['gateway:calls']['event'][];
  'gateway:agents': AgentsData;
  'gateway:all_agents': TopicShapes['gateway:all_agents']['snapshot'];
  'gateway:deliveries': readonly TopicShapes['gateway:deliveries']['event'][];
  'gateway:semantic_loops': readonly TopicShapes['gateway:semantic_loops']['event'][];
  'gateway:sessions': SessionsData;
  'gateway:stats': readonly TopicShapes['gateway:stats']['event'][];
  [topic: SessionTopic]: SessionData;
}

const gatewayMerges: Record<string, TopicMerge<never, never, never>> = {
  'gateway:messages': messagesMerge as TopicMerge<never, never, never>,
  'gateway:violations': violationsMerge as TopicMerge<never, never, never>,
  'gateway:topology': topologyMerge as TopicMerge<never, never, never>,
  'gateway:entropy_alerts': entropyAlertsMerge as TopicMerge<never, never, never>,
  'gateway:incidents': incidentsMerge as TopicMerge<never, never, never>,
  'gateway:calls': callsMerge as TopicMerge<never, never, never>,
  'gateway:agents': agentsMerge as TopicMerge<never, never, never>,
  'gateway:all_agents': allAgentsMerge as TopicMerge<never, never, never>,
  'gateway:deliveries': deliveriesMerge as TopicMerge<never, never, never>,
  'gateway:semantic_loops': semanticLoopsMerge as TopicMerge<never, never, never>,
  'gateway:sessions': sessionsMerge as TopicMerge<never, never, never>,
  'gateway:stats': statsMerge as TopicMerge<never, never, never>,
};

/** The merge functions of a topic, untyped: `TopicData` and `TopicShapes` hold the types at the edges. */
export function mergeOf(topic: Topic): TopicMerge<unknown, unknown, unknown> {
  return (gatewayMerges[topic] ?? sessionDetailMerge) as TopicMerge<unknown, unknown, unknown>;
}
