/** `gateway:sessions`: the latest row of every session, by id. */
import type { SessionView } from '#contracts';
import type { TopicMerge } from '../topic-merge';

export type SessionsData = ReadonlyMap<string, SessionView>;

/** Rows are replaced whole, so a row that did not change keeps its identity. One copy of the map per batch. */
export const sessionsMerge: TopicMerge<SessionsData, SessionView[], SessionView> = {
  start: (snapshot) => new Map(snapshot.map((session) => [session.session_id, session])),
  apply(data, events) {
    const next = new Map(data);
    for (const session of events) next.set(session.session_id, session);
    return next;
  },
};
