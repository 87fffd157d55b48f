/** The figures of the cache as the page shows them. Pure. */
import type { CacheSemanticMode, CacheStats, NotStoredReason, TextVeto } from '#contracts';
import type { CountLine } from '../../ui';

export interface HitRates {
  lookupCount: number;
  /** Of all look-ups; null without any. */
  shares: {
    total: number;
    exact: number;
    semantic: number;
    /** What shadow mode would have added. */
    shadow: number;
  } | null;
}

export function hitRates(
  stats: Pick<CacheStats, 'total_hits' | 'total_misses' | 'exact_hits' | 'semantic_hits' | 'shadow_hits'>,
): HitRates {
  const lookupCount = stats.total_hits + stats.total_misses;
  if (lookupCount === 0) return { lookupCount, shares: null };
  const share = (count: number): number => count / lookupCount;
  return {
    lookupCount,
    shares: {
      total: share(stats.total_hits),
      exact: share(stats.exact_hits),
      semantic: share(stats.semantic_hits),
      shadow: share(stats.shadow_hits),
    },
  };
}

/** From this share on semantic matches do more harm than they save. */
const WRONG_HITS_WARN_ABOVE = 0.01;

/** Too many are wrong; not so while nothing is known. */
export const isWrongHitRate = (rate: number | null): boolean => rate !== null && rate > WRONG_HITS_WARN_ABOVE;

/** Below this many, none wrong may still be luck. */
const KNOWN_MATCHES_ENOUGH = 100;

type KnownMatches = Pick<CacheStats, 'marked_right' | 'marked_wrong' | 'shadow_agreed' | 'shadow_differed'>;

/** Semantic matches of which somebody, or the upstream's own answer, said whether they were right. */
export const knownMatchCount = (stats: KnownMatches): number =>
  stats.marked_right + stats.marked_wrong + stats.shadow_agreed + stats.shadow_differed;

/** Nothing is called good that a handful of matches says. */
export function wrongHitTone(rate: number | null, knownCount: number): 'faint' | 'success' | 'danger' {
  if (isWrongHitRate(rate)) return 'danger';
  return rate === null || knownCount < KNOWN_MATCHES_ENOUGH ? 'faint' : 'success';
}

/** Nothing was looked up and nothing is kept: the page teaches instead of showing zeros. */
export const isUnused = (stats: CacheStats): boolean =>
  stats.total_entries === 0 && stats.total_hits + stats.total_misses + stats.shadow_hits === 0;

export const MODE_TEXTS: Record<CacheSemanticMode, { label: string; text: string }> = {
  off: { label: 'Off', text: 'Only the same request is answered from the cache.' },
  shadow: {
    label: 'Shadow',
    text: 'A similar question goes to the upstream all the same. The real answer is compared with the one that would have been served, and nothing is risked.',
  },
  on: {
    label: 'On',
    text: 'A similar question at temperature 0, within the same conversation, tools and model, gets the answer that was given before.',
  },
};

/** What to do next, from what is known. */
export function modeAdvice(
  stats: Pick<CacheStats, 'semantic_mode' | 'wrong_hit_rate' | 'shadow_hits' | 'embedding_model'> &
    KnownMatches,
): string {
  const { semantic_mode, wrong_hit_rate, shadow_hits } = stats;
  if (semantic_mode === 'off')
    return 'Try shadow first: it measures on your own traffic, and serves nothing.';
  if (stats.embedding_model === null) {
    return 'No embedder answers: until one does, only exact matches are found.';
  }
  const isWrong = isWrongHitRate(wrong_hit_rate);
  if (semantic_mode === 'on') {
    if (isWrong) return 'Too many are wrong: go back to shadow, or raise LLM_CACHE_SIMILARITY.';
    return 'Judge some of the matches now and then: the wrong-hit rate is only as good as what is known.';
  }
  if (wrong_hit_rate === null) {
    return shadow_hits === 0
      ? 'No similar question came yet. Leave it running until there is something to judge.'
      : 'Nothing is known about them yet: judge some of the matches.';
  }
  if (!isWrong && knownMatchCount(stats) < KNOWN_MATCHES_ENOUGH) {
    return 'Too few are known to tell. Leave it running, and judge some of the matches.';
  }
  return isWrong
    ? 'Too many would have been wrong: stay in shadow, or raise LLM_CACHE_SIMILARITY.'
    : 'Few would have been wrong. Look through the matches before you switch it on.';
}

const VETOES: Record<TextVeto, Omit<CountLine, 'key' | 'count'>> = {
  numbers: { label: 'Other numbers', note: '“order 17” is not “order 18”.' },
  dates: { label: 'Other dates' },
  negation: { label: 'A “not” in one of them' },
  quotes: { label: 'Other quoted words' },
  code: { label: 'Other code' },
  entities: { label: 'Other names' },
  one_word: {
    label: 'Only a part differs',
    note: 'One word, or one stretch of words: that can be the whole point.',
  },
  word_order: { label: 'Same words, other order', note: '“Rome to Oslo” is not “Oslo to Rome”.' },
  spelling: { label: 'Other capitals or commas', note: '“polish” is not “Polish”.' },
};

const NOT_STORED: Record<NotStoredReason, Omit<CountLine, 'key' | 'count'>> = {
  failed: { label: 'Errors', note: 'The upstream answered with a failure.' },
  unfinished: { label: 'Broken off', note: 'The answer never ended, or the client left.' },
  length: { label: 'Cut off', note: 'At a limit on its length.' },
  filtered: { label: 'Filtered', note: 'By the vendor.' },
  other_finish: { label: 'Ended some other way' },
  lossy: { label: 'More than text and tools', note: 'A replay would lose something.' },
  empty: { label: 'Empty', note: 'Neither text nor a tool call.' },
  stateful: { label: 'Not a plain question', note: 'It depends on what the vendor keeps or looks up.' },
  hinted: { label: 'Carried our words', note: 'A hint or guidance was added to the call.' },
  outdated: { label: 'Thrown out meanwhile', note: 'The cache was invalidated while they were under way.' },
  too_large: { label: 'Too large', note: 'Over one answer’s share of LLM_CACHE_MAX_BYTES.' },
  backend_away: { label: 'Redis away', note: 'It did not take them.', tone: 'warning' },
  unusable: { label: 'Without a key or a time' },
};

function linesOf<Key extends string>(
  counts: Readonly<Partial<Record<Key, number>>>,
  texts: Readonly<Record<Key, Omit<CountLine, 'key' | 'count'>>>,
): CountLine[] {
  return (
    (Object.entries(counts) as [Key, number | undefined][])
      // A newer gateway may count what this page has no words for.
      .map(([key, count = 0]) => ({ ...(texts[key] ?? { label: key.replaceAll('_', ' ') }), key, count }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
  );
}

export const vetoLines = (vetoes: CacheStats['vetoes']): CountLine[] => linesOf(vetoes, VETOES);
export const notStoredLines = (reasons: CacheStats['not_stored']): CountLine[] =>
  linesOf(reasons, NOT_STORED);

/** "0.03 ms", "1.2 ms", "18 ms". */
export const formatLookupMs = (ms: number): string =>
  ms < 1 ? `${ms.toFixed(2)} ms` : ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
