/** The cache in figures; the wrong-hit rate always stands beside the hit rate. */
import type { CacheStats } from '#contracts';
import {
  type Figure,
  Figures,
  formatBytes,
  formatCount,
  formatDuration,
  formatPartialCost,
  formatShare,
  plural,
} from '../../ui';
import { formatLookupMs, hitRates, knownMatchCount, wrongHitTone } from './cache-stats';

export function CacheFigures({ stats }: { stats: CacheStats }) {
  const { lookupCount, shares } = hitRates(stats);
  const judged = stats.marked_right + stats.marked_wrong;
  const compared = stats.shadow_agreed + stats.shadow_differed;
  const figures: readonly Figure[] = [
    {
      label: 'Hit rate',
      value: shares === null ? 'no look-ups yet' : formatShare(shares.total),
      note:
        shares === null
          ? null
          : `exact ${formatShare(shares.exact)}, similar ${formatShare(shares.semantic)} of ${plural(lookupCount, 'look-up')}`,
    },
    {
      label: 'Wrong among semantic matches',
      value: stats.wrong_hit_rate === null ? 'not known yet' : formatShare(stats.wrong_hit_rate),
      tone: wrongHitTone(stats.wrong_hit_rate, knownMatchCount(stats)),
      note: `${formatCount(judged)} judged, ${formatCount(compared)} compared`,
    },
    {
      label: 'Shadow hits, not served',
      value: formatCount(stats.shadow_hits),
      note: [
        shares !== null && stats.shadow_hits > 0 ? `${formatShare(shares.shadow)} of look-ups` : '',
        compared > 0
          ? `${formatCount(stats.shadow_agreed)} agreed, ${formatCount(stats.shadow_differed)} differed`
          : '',
      ]
        .filter(Boolean)
        .join('; '),
    },
    {
      label: 'Saved',
      value: formatPartialCost(stats.saved_usd, stats.unpriced_hit_count > 0),
      note: `and ${formatDuration(stats.saved_ms)}`,
    },
    {
      label: 'Entries',
      value: formatCount(stats.total_entries),
      note: formatBytes(stats.total_bytes),
    },
    {
      label: 'Look-up, p50',
      value: stats.lookup_p50_ms === null ? 'none yet' : formatLookupMs(stats.lookup_p50_ms),
      note: stats.lookup_p99_ms === null ? null : `p99 ${formatLookupMs(stats.lookup_p99_ms)}`,
    },
    {
      label: 'Shared answers',
      value: formatCount(stats.coalesced),
      note: 'callers that waited for an equal call',
    },
    {
      label: 'Vetoed',
      value: formatCount(Object.values(stats.vetoes).reduce((sum, count) => sum + (count ?? 0), 0)),
      note: 'alike, but not the same question',
    },
  ];
  return (
    <section aria-label={`Figures over ${plural(lookupCount, 'look-up')}`}>
      <Figures figures={figures} />
      <p className="mt-1.5 px-1 text-muted text-xs">
        Counted by this gateway since its start. Entries are those of now.
      </p>
    </section>
  );
}
