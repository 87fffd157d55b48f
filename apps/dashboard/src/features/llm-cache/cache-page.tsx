/** The LLM cache: what it saved and how often it was wrong, what it keeps, and the ways to judge and to clear it. */
import { DatabaseZap, Eraser, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { CacheStats } from '#contracts';
import { isOnItsWay, useDenial } from '../../api';
import { StatePage } from '../../app/state-page';
import { Badge, Button, Callout, CountBars, EmptyState, Panel, Skeleton, useWaitsFor } from '../../ui';
import { CacheFigures } from './cache-figures';
import { CacheLesson } from './cache-lesson';
import { isUnused, notStoredLines, vetoLines } from './cache-stats';
import { EntriesPanel } from './entries-panel';
import { InvalidateDialog } from './invalidate-dialog';
import { MatchesPanel } from './matches-panel';
import { SemanticModePanel } from './semantic-mode-panel';
import { useCacheEntries, useCacheStats, useSemanticMatches } from './use-cache';

export function CachePage() {
  const { data: stats, error } = useCacheStats();
  const denial = useDenial('command');
  /** Null: closed. */
  const [pattern, setPattern] = useState<string | null>(null);
  return (
    <>
      <StatePage
        title="Cache"
        label="State of the cache"
        heading={
          <>
            {stats ? <Backend stats={stats} /> : null}
            {stats && stats.backend !== 'off' ? (
              <Button
                data-testid="cache-invalidate"
                icon={<Eraser size={14} aria-hidden="true" />}
                disabledReason={denial}
                onClick={() => setPattern('')}
                className="ml-auto max-md:h-10"
              >
                Invalidate
              </Button>
            ) : null}
          </>
        }
      >
        {error ? <Callout tone="danger">{error.message}</Callout> : null}
        {stats?.is_degraded ? (
          <Callout tone="warning" icon={<TriangleAlert size={14} aria-hidden="true" />}>
            Redis does not answer, or a node of its cluster: every look-up of what lies there is a miss, and
            the call goes to the upstream as if there were no cache. It is tried again by itself.
          </Callout>
        ) : null}
        {!stats && !error ? <Loading /> : null}
        {stats ? <Body stats={stats} onInvalidate={setPattern} /> : null}
      </StatePage>
      {pattern === null || denial !== null ? null : (
        <InvalidateDialog pattern={pattern} onClose={() => setPattern(null)} />
      )}
    </>
  );
}

interface BodyProps {
  stats: CacheStats;
  onInvalidate: (pattern: string) => void;
}

function Body({ stats, onInvalidate }: BodyProps) {
  if (stats.backend === 'off') {
    return (
      <>
        <Panel>
          <EmptyState icon={<DatabaseZap size={28} aria-hidden="true" />} title="The cache is off">
            Every call goes to its upstream. Start the gateway with{' '}
            <code className="font-mono text-xs">LLM_CACHE_BACKEND=auto</code> to switch it on.
          </EmptyState>
        </Panel>
        <CacheLesson />
      </>
    );
  }
  if (isUnused(stats)) {
    return (
      <>
        <Panel>
          <EmptyState
            icon={<DatabaseZap size={28} aria-hidden="true" />}
            title="Nothing has been asked twice yet"
          >
            Answers to calls through the proxy are kept here. The second time the same is asked it costs
            nothing and takes a millisecond.
          </EmptyState>
        </Panel>
        <CacheLesson />
      </>
    );
  }
  return <Used stats={stats} onInvalidate={onInvalidate} />;
}

function Used({ stats, onInvalidate }: BodyProps) {
  const matches = useSemanticMatches();
  const entries = useCacheEntries();
  // One that came after the other would push it away.
  if (useWaitsFor(isOnItsWay(matches) || isOnItsWay(entries))) return <Loading />;
  return (
    <>
      <CacheFigures stats={stats} />
      <div className="flex items-start gap-3 max-lg:flex-col max-lg:items-stretch">
        <div className="flex min-w-0 flex-1 flex-col gap-3">
          <MatchesPanel mode={stats.semantic_mode} pages={matches} />
          <EntriesPanel pages={entries} onInvalidate={onInvalidate} />
        </div>
        <div className="flex w-80 shrink-0 flex-col gap-3 max-lg:w-full">
          <SemanticModePanel stats={stats} />
          <Panel title="Vetoes" bodyClassName="">
            <CountBars
              label="Vetoes by reason"
              lines={vetoLines(stats.vetoes)}
              empty="None. A similar question whose numbers, names or a “not” differ is refused, and counted here."
            />
          </Panel>
          <Panel title="Answers not kept" bodyClassName="">
            <CountBars
              label="Answers not kept, by reason"
              lines={notStoredLines(stats.not_stored)}
              empty="None: every whole answer was kept."
            />
          </Panel>
        </div>
      </div>
      <CacheLesson />
    </>
  );
}

function Backend({ stats: { backend, is_degraded } }: { stats: CacheStats }) {
  if (backend === 'off') return <Badge>Off</Badge>;
  const name = backend === 'redis' ? 'Redis' : 'In memory';
  return is_degraded ? (
    <Badge tone="warning">{name}, not answering</Badge>
  ) : (
    <Badge tone="success">{name}</Badge>
  );
}

function Loading() {
  return (
    <div aria-busy="true" className="flex flex-col gap-3">
      <Skeleton className="h-36" />
      <Skeleton className="h-64" />
    </div>
  );
}
