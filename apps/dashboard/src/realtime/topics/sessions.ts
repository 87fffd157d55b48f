/** `gateway:sessions`: the latest row of every session that the list has room for, by id; without those that retention has deleted. */
import { LIMITS, rowsToShow, type SessionRow, type SessionView } from '#contracts';
import type { TopicMerge } from '../topic-merge';
import { cutBack } from './cut-back';

export type SessionsData = ReadonlyMap<string, SessionView>;

/** Rows are replaced whole, so a row that did not change keeps its identity. One copy of the map per batch. */
export const sessionsMerge: TopicMerge<SessionsData, SessionView[], SessionRow> = {
  start: (snapshot) => new Map(snapshot.map((session) => [session.session_id, session])),
  apply(data, events) {
    const next = new Map(data);
    for (const session of events) {
      if (session.is_deleted) next.delete(session.session_id);
      else next.set(session.session_id, session);
    }
    return cutBack(next, LIMITS.listedSessionsMax, ({ session_id }) => session_id, listed);
  },
};

/** Those that the gateway would give now. */
const listed = (sessions: SessionView[]): SessionView[] =>
  rowsToShow(
    sessions.sort((a, b) => b.last_seen_ms - a.last_seen_ms),
    LIMITS.listedSessionsMax,
  );
