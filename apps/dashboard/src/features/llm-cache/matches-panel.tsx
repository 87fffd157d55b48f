/** The latest semantic matches, for people to judge. */
import { ScanText } from 'lucide-react';
import type { CacheSemanticMode } from '#contracts';
import { Button, Callout, EmptyState, Panel, Skeleton } from '../../ui';
import { MatchRow } from './match-row';
import { useSemanticMatches } from './use-cache';

const EMPTY: Record<CacheSemanticMode, string> = {
  off: 'Similar questions are not looked for. In shadow mode they would be listed here, without being served.',
  shadow:
    'When a question means the same as one that was answered before, both stand here, side by side. Nothing is served in shadow mode.',
  on: 'When a question is answered with what was said to a similar one, both stand here, side by side.',
};

export function MatchesPanel({ mode }: { mode: CacheSemanticMode }) {
  const { items, failure, hasMore, isLoadingMore, loadMore } = useSemanticMatches();
  return (
    <Panel
      title="Semantic matches"
      aside={<span className="text-muted text-xs max-md:hidden">latest first, redacted</span>}
      bodyClassName=""
    >
      {failure ? (
        <Callout tone="danger" className="m-3">
          {failure}
        </Callout>
      ) : null}
      {items === undefined && !failure ? <Skeleton className="m-3 h-24" /> : null}
      {items?.length === 0 ? (
        <EmptyState icon={<ScanText size={24} aria-hidden="true" />} title="No match yet" className="py-8">
          {EMPTY[mode]}
        </EmptyState>
      ) : null}
      {items && items.length > 0 ? (
        <>
          <p className="border-line border-b px-3 py-2 text-muted text-xs">
            Marked is what differs. Right and Wrong go into the wrong-hit rate; Wrong also removes the entry,
            so that nobody gets that answer again.
          </p>
          <ul className="divide-y divide-line">
            {items.map((match) => (
              <li key={match.match_id}>
                <MatchRow match={match} />
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {hasMore ? (
        <div className="flex justify-center border-line border-t p-3">
          <Button size="sm" busy={isLoadingMore} onClick={loadMore}>
            Load older matches
          </Button>
        </div>
      ) : null}
    </Panel>
  );
}
