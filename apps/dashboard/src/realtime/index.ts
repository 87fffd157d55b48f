/** Import from here; live-client.ts explains use. */
export { besideLive } from './beside-live';
export { liveClient } from './browser-live-client';
export type { ConnectionState } from './connection';
export { type ListShape, splitNewer } from './live-over-history';
export type { TopicData } from './topic-merges';
export type { TopicState } from './topic-state';
export { type AgentsData, NO_AGENTS } from './topics/agents';
export type { EntropyAlertsData } from './topics/entropy-alerts';
export type { SessionsData } from './topics/sessions';
export { edgeKey, type TopologyData } from './topics/topology';
export { useAnswerOverLive } from './use-answer-over-live';
export { type LiveList, useLiveList } from './use-live-list';
export { useConnection, useOfTopic, useTopic } from './use-topic';
