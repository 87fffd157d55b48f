/** Sessions that match and are not in the list. Draws nothing while nothing is found. */
import { Link } from '@tanstack/react-router';
import { CutMiddle, RelativeTime, truncateMiddle } from '../../ui';
import { type StoredFilter, useStoredMatches } from './use-stored-matches';

export function StoredMatches(filter: StoredFilter) {
  const { found, hasMore } = useStoredMatches(filter);
  if (found.length === 0) return null;
  return (
    <section aria-label="Earlier sessions" className="mt-4 w-full max-w-md text-left">
      <h2 className="mb-1 font-medium text-fg text-xs">Not in this list</h2>
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
              <span className="min-w-0 flex-1 text-xs">
                <CutMiddle text={agent_id} />
              </span>
              <span className="shrink-0 text-xs">
                <RelativeTime atMs={last_seen_ms} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {hasMore ? <p className="mt-1 text-xs">There are more: narrow the search to find others.</p> : null}
    </section>
  );
}
