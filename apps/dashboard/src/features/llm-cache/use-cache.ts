/** What the Cache page reads and does. All of it is this tenant's. */
import { type InfiniteData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CacheEntryView, CacheStats, Page, SemanticMatch } from '#contracts';
import { api, type Pages, usePages } from '../../api';

const REFRESH_MS = 5_000;
const PAGE_ROWS = 25;
/** Begins every key, so that one call refreshes the page. */
const CACHE_KEY = 'llm-cache';
const MATCHES_KEY = [CACHE_KEY, 'matches'];

export const useCacheStats = () =>
  useQuery({
    queryKey: [CACHE_KEY, 'stats'],
    queryFn: () => api.get<CacheStats>('/v1/cache/stats'),
    refetchInterval: REFRESH_MS,
    staleTime: 0,
  });

const usePagesOfCache = <Item>(queryKey: readonly string[], path: string): Pages<Item> =>
  usePages({ queryKey, path, pageRows: PAGE_ROWS, refetchIntervalMs: REFRESH_MS });

/** Most hits first. */
export const useCacheEntries = () =>
  usePagesOfCache<CacheEntryView>([CACHE_KEY, 'entries'], '/v1/cache/entries');
/** Newest first. */
export const useSemanticMatches = () => usePagesOfCache<SemanticMatch>(MATCHES_KEY, '/v1/cache/matches');

/** Marks a match; the answer is shown at once, the figures follow. */
export function useVerdict(matchId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (verdict: NonNullable<SemanticMatch['verdict']>) =>
      api.post<SemanticMatch>(`/v1/cache/matches/${encodeURIComponent(matchId)}/verdict`, { verdict }),
    onSuccess: (judged) => {
      queryClient.setQueryData<InfiniteData<Page<SemanticMatch>>>(MATCHES_KEY, (before) =>
        before === undefined
          ? before
          : {
              ...before,
              pages: before.pages.map((page) => ({
                ...page,
                items: page.items.map((match) => (match.match_id === judged.match_id ? judged : match)),
              })),
            },
      );
      void queryClient.invalidateQueries({ queryKey: [CACHE_KEY] });
    },
  });
}

interface InvalidateAnswer {
  count: number;
}

/** @param pattern null: everything */
const invalidate = (pattern: string | null, preview: boolean): Promise<InvalidateAnswer> =>
  api.post<InvalidateAnswer>('/v1/cache/invalidate', { ...(pattern === null ? {} : { pattern }), preview });

/** How many entries would go. @param isAsked false: there is no pattern to ask about */
export const useInvalidatePreview = (pattern: string | null, isAsked: boolean) =>
  useQuery({
    queryKey: ['llm-cache-preview', pattern],
    queryFn: () => invalidate(pattern, true),
    enabled: isAsked,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });

/** Removes them; resolves with how many went. */
export function useInvalidate(): (pattern: string | null) => Promise<number> {
  const queryClient = useQueryClient();
  return async (pattern) => {
    const { count } = await invalidate(pattern, false);
    await queryClient.invalidateQueries({ queryKey: [CACHE_KEY] });
    return count;
  };
}
