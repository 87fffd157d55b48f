/**
 * What a search that matches nothing here finds in the store: the live list holds the sessions that matter most, and
 * somebody asks for one of last week. Draws nothing while nothing is found.
 */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Page, SessionView } from '#contracts';
import { api } from '../../api';
import { type SessionsData, useTopic } from '../../realtime';
import { RelativeTime, truncateMiddle } from '../../ui';
import type { ListSearch } from './list-search';

const SHOWN_MAX = 10;
const NONE_LISTED: SessionsData = new Map();

export function StoredMatches({ q, severity, agent }: Pick<ListSearch, 'q' | 'severity' | 'agent'>) {
  const listed = useTopic('gateway:sessions').data ?? NONE_LISTED;
  const filter = { q, severity, agent_id: agent };
  const { data } = useQuery({
    queryKey: ['sessions-stored', filter],
    queryFn: ({ signal }) =>
      api.get<Page<SessionView>>('/v1/sessions', { ...filter, limit: SHOWN_MAX }, signal),
    enabled: q !== undefined,
  });
  // What is listed was left out by another filter.
  const found = data?.items.filter(({ session_id }) => !listed.has(session_id)) ?? [];
  if (found.length === 0) return null;
  return (
    <section aria-label="Earlier sessions" className="mt-4 w-full max-w-md text-left">
      <h2 className="mb-1 font-medium text-fg text-xs">Earlier, no longer in this list</h2>
      <ul className="rounded-md border border-line">
        {found.map(({ session_id, agent_id, last_seen_ms }) => (
          <li key={session_id} className="border-line border-b last:border-b-0">
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: session_id }}
              title={session_id}
              className="focus-inset flex min-h-9 items-center gap-2 px-3 hover:bg-hover max-md:min-h-11"
            >
              <bdi className="truncate font-mono text-fg text-xs">{truncateMiddle(session_id, 24)}</bdi>
              <bdi className="min-w-0 flex-1 truncate text-xs">{agent_id}</bdi>
              <span className="shrink-0 text-xs">
                <RelativeTime atMs={last_seen_ms} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
