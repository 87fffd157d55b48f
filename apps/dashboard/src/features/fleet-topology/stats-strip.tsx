/** The gateway's vital signs over the last two minutes. */
import { Suspense, useMemo } from 'react';
import type { GatewayStats } from '#contracts';
import { lazyPart } from '../../app/lazy-part';
import { useTopic } from '../../realtime';
import { cx, formatCount, Skeleton } from '../../ui';
import { ScrollSideways } from '../../ui/scroll-sideways';
import { formatLatency, formatRate, type StatKey, seriesOf } from './stats-series';

const Sparkline = lazyPart(() => import('./sparkline'), 'Sparkline');

interface Tile {
  label: string;
  /** What the sparkline draws. */
  series: StatKey;
  value: (stats: GatewayStats) => string;
  /** What is said in their place where there is nothing to show. */
  absence?: (stats: GatewayStats) => string | null;
  unit?: string;
  /** A second, smaller number. */
  note?: (stats: GatewayStats) => string;
  /** Something to worry about. */
  isBad?: (stats: GatewayStats) => boolean;
}

/** Writes waiting for the disk beyond which the number turns red. */
const STORE_QUEUE_CALM_MAX = 1_000;

const TILES: readonly Tile[] = [
  {
    label: 'Throughput',
    series: 'logs_per_second',
    value: (stats) => formatRate(stats.logs_per_second),
    unit: 'logs/s',
  },
  {
    label: 'Ingest latency',
    series: 'ingest_p95_ms',
    value: (stats) => formatLatency(stats.ingest_p50_ms),
    absence: (stats) => (stats.ingest_p50_ms === null ? 'no logs in 10 s' : null),
    unit: 'p50',
    note: (stats) => `${formatLatency(stats.ingest_p95_ms)} p95`,
  },
  {
    label: 'Live sessions',
    series: 'live_session_count',
    value: (stats) => formatCount(stats.live_session_count),
  },
  { label: 'Subscribers', series: 'subscriber_count', value: (stats) => formatCount(stats.subscriber_count) },
  {
    label: 'Store queue',
    series: 'store_queue_count',
    value: (stats) => formatCount(stats.store_queue_count),
    isBad: (stats) => stats.store_queue_count > STORE_QUEUE_CALM_MAX,
  },
];

export function StatsStrip() {
  const { data } = useTopic('gateway:stats');
  const series = useMemo(() => (data ? seriesOf(data) : null), [data]);
  return (
    <div className="shrink-0 border-line border-b bg-surface short:order-last short:border-t">
      {/* On a phone it scrolls, and has to be reachable by keyboard. */}
      <ScrollSideways
        role="region"
        aria-label="Gateway health"
        aria-busy={!series?.latest}
        tabIndex={0}
        className="focus-inset"
      >
        <ul className="flex max-md:w-max md:grid md:grid-cols-[1fr_1.5fr_1fr_1fr_1fr]">
          {TILES.map((tile) => (
            <li
              key={tile.label}
              className="flex min-w-0 shrink-0 items-end gap-3 border-line border-r px-3 py-2 last:border-r-0 max-md:min-w-40 md:px-4"
            >
              <p className="shrink-0">
                <span className="block text-2xs text-muted">{tile.label}</span>
                <span className="nums block whitespace-nowrap leading-6">
                  {series?.latest ? (
                    <TileValue tile={tile} stats={series.latest} />
                  ) : (
                    <Skeleton className="my-1 h-4 w-14" />
                  )}
                </span>
              </p>
              {/* A narrow window has room for the numbers alone. */}
              <div className="min-w-12 flex-1 pb-0.5 md:max-xl:hidden">
                <Suspense fallback={null}>
                  {series ? <Sparkline times={series.times} values={series.column(tile.series)} /> : null}
                </Suspense>
              </div>
            </li>
          ))}
        </ul>
      </ScrollSideways>
    </div>
  );
}

function TileValue({ tile, stats }: { tile: Tile; stats: GatewayStats }) {
  const absence = tile.absence?.(stats);
  if (absence) return <span className="text-muted text-xs">{absence}</span>;
  return (
    <>
      <span className={cx('font-semibold text-lg', tile.isBad?.(stats) && 'text-danger')}>
        {tile.value(stats)}
      </span>
      {tile.unit ? <span className="ml-1 text-muted text-xs">{tile.unit}</span> : null}
      {tile.note ? <span className="ml-2 text-muted text-xs">{tile.note(stats)}</span> : null}
    </>
  );
}
