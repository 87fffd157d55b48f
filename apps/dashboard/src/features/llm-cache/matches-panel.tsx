/** The latest semantic matches, for people to judge. */
import { ScanText } from 'lucide-react';
import type { CacheSemanticMode, SemanticMatch } from '#contracts';
import type { Pages } from '../../api';
import { EmptyState } from '../../ui';
import { MatchRow } from './match-row';
import { PagedPanel } from './paged-panel';

const EMPTY: Record<CacheSemanticMode, string> = {
  off: 'Similar questions are not looked for. In shadow mode they would be listed here, without being served.',
  shadow:
    'When a question means the same as one that was answered before, both stand here, side by side. Nothing is served in shadow mode.',
  on: 'When a question is answered with what was said to a similar one, both stand here, side by side.',
};

interface MatchesPanelProps {
  mode: CacheSemanticMode;
  pages: Pages<SemanticMatch>;
}

export function MatchesPanel({ mode, pages }: MatchesPanelProps) {
  return (
    <PagedPanel
      title="Semantic matches"
      aside="latest first, redacted"
      pages={pages}
      empty={
        <EmptyState icon={<ScanText size={24} aria-hidden="true" />} title="No match yet" className="py-8">
          {EMPTY[mode]}
        </EmptyState>
      }
      moreLabel="Load older matches"
    >
      {(matches) => (
        <>
          <p className="border-line border-b px-3 py-2 text-muted text-xs">
            Marked is what differs. Right and Wrong go into the wrong-hit rate; Wrong also removes the entry,
            so that nobody gets that answer again.
          </p>
          <ul className="divide-y divide-line">
            {matches.map((match) => (
              <li key={match.match_id}>
                <MatchRow match={match} />
              </li>
            ))}
          </ul>
        </>
      )}
    </PagedPanel>
  );
}
