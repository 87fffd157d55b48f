/** React's view of the live client. */
import { useCallback, useSyncExternalStore } from 'react';
import type { Topic } from '#contracts';
import { liveClient } from './browser-live-client';
import type { ConnectionState } from './connection';
import type { TopicData } from './topic-merges';
import type { TopicState } from './topic-state';

/** Subscribes while mounted; re-renders at most once per animation frame. */
export function useTopic<T extends Topic>(topic: T): TopicState<TopicData[T]> {
  const subscribe = useCallback((listener: () => void) => liveClient.use(topic, listener), [topic]);
  return useSyncExternalStore(subscribe, () => liveClient.read(topic)) as TopicState<TopicData[T]>;
}

/** What `select` makes of what the topic holds: re-renders when that changes, and not whenever the topic does. */
export function useOfTopic<T extends Topic, V extends boolean | number | string>(
  topic: T,
  select: (data: TopicData[T] | null) => V,
): V {
  const subscribe = useCallback((listener: () => void) => liveClient.use(topic, listener), [topic]);
  return useSyncExternalStore(subscribe, () =>
    select((liveClient.read(topic) as TopicState<TopicData[T]>).data),
  );
}

/** The state of the connection. */
export function useConnection(): ConnectionState {
  return useSyncExternalStore(
    (listener) => liveClient.onConnection(listener),
    () => liveClient.connection,
  );
}
