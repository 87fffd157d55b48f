import type { QueryClient, QueryKey } from '@tanstack/react-query';

/**
 * Shows at once what a change has answered, and reads it again: an answer that is late may be of before somebody else's change, and what
 * was being read meanwhile, of before this one, is dropped.
 */
export function showAnswer<T>(queryClient: QueryClient, queryKey: QueryKey, answer: T): void {
  queryClient.setQueryData(queryKey, answer);
  void queryClient.invalidateQueries({ queryKey });
}
