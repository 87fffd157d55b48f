/** What is kept, the most useful first. Neither prompts nor answers: those are nobody's to read here. */
import { Link } from '@tanstack/react-router';
import { Eraser } from 'lucide-react';
import type { CacheEntryView } from '#contracts';
import { type Pages, useDenial } from '../../api';
import {
  ActionsTh,
  Button,
  CutMiddle,
  formatBytes,
  formatCost,
  formatCount,
  RelativeTime,
  Table,
  Td,
  Th,
  truncateMiddle,
} from '../../ui';
import { PagedPanel } from './paged-panel';

interface EntriesPanelProps {
  pages: Pages<CacheEntryView>;
  onInvalidate: (pattern: string) => void;
}

export function EntriesPanel({ pages, onInvalidate }: EntriesPanelProps) {
  return (
    <PagedPanel
      title="Top hits"
      aside="no prompts and no answers"
      pages={pages}
      empty={<p className="p-3 text-muted text-xs">Nothing is kept. The next whole answer will be.</p>}
      moreLabel="Load more entries"
    >
      {(entries) => <EntriesTable entries={entries} onInvalidate={onInvalidate} />}
    </PagedPanel>
  );
}

interface EntriesTableProps {
  entries: readonly CacheEntryView[];
  onInvalidate: (pattern: string) => void;
}

function EntriesTable({ entries, onInvalidate }: EntriesTableProps) {
  const denial = useDenial('command');
  return (
    <Table className="nums text-xs">
      <thead>
        <tr>
          <Th>Asked by</Th>
          <Th className="text-right">Hits</Th>
          <Th className="text-right">Saved</Th>
          <Th className="text-right max-md:hidden">Size</Th>
          <Th className="max-md:hidden">Kept</Th>
          <Th className="max-md:hidden">Last hit</Th>
          <Th className="max-lg:hidden">Key</Th>
          <ActionsTh className="w-10" />
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.key} data-testid="cache-entry" className="hover:bg-hover">
            <Td className="max-w-56">
              <Link
                to="/agents/$agentId"
                params={{ agentId: entry.agent_id }}
                title={entry.agent_id}
                className="block font-medium hover:underline"
              >
                <CutMiddle text={entry.agent_id} />
              </Link>
              <span className="block truncate text-muted" title={`${entry.upstream}, ${entry.dialect}`}>
                {entry.model ?? entry.upstream}
                {entry.has_vector ? (
                  <span title="Similar questions can find it too." className="ml-1.5">
                    <span aria-hidden="true">≈</span>
                    <span className="sr-only">found by similar questions too</span>
                  </span>
                ) : null}
              </span>
            </Td>
            <Td className="text-right font-medium">{formatCount(entry.hit_count)}</Td>
            <Td className="text-right">
              {entry.cost_usd === null && entry.hit_count > 0 ? (
                <span className="text-warning">{formatCost(null)}</span>
              ) : (
                <span title={`${formatCost(entry.cost_usd)} each`}>
                  {formatCost((entry.cost_usd ?? 0) * entry.hit_count)}
                </span>
              )}
            </Td>
            <Td className="text-right text-muted max-md:hidden">{formatBytes(entry.byte_count)}</Td>
            <Td className="text-muted max-md:hidden">
              <RelativeTime atMs={entry.created_at_ms} />
            </Td>
            <Td className="text-muted max-md:hidden">
              {entry.last_hit_at_ms === null ? 'never' : <RelativeTime atMs={entry.last_hit_at_ms} />}
            </Td>
            <Td className="font-mono text-2xs text-muted max-lg:hidden" title={entry.key}>
              {truncateMiddle(entry.key, 18)}
            </Td>
            <Td className="!py-0.5">
              <Button
                size="sm"
                variant="ghost"
                aria-label={`Remove this entry of ${entry.agent_id}, ${entry.key}`}
                title="Remove this entry"
                icon={<Eraser size={14} aria-hidden="true" />}
                disabledReason={denial}
                onClick={() => onInvalidate(entry.key)}
              />
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
