/**
 * One thing that is asked for by itself, since a live topic has no room for it. When the topic begins anew it is asked for again: of what
 * became of it in between the topic says nothing, and it would be shown as it was for as long as the page is open.
 */
import { matchQuery, queryOptions } from '@tanstack/react-query';

/** @param startCount of the topic */
export const besideLive = <T>(key: readonly string[], startCount: number, read: () => Promise<T>) =>
  queryOptions<T, Error, T, readonly unknown[]>({
    queryKey: [...key, startCount],
    queryFn: read,
    staleTime: 0,
    placeholderData: (answer, before) =>
      before && matchQuery({ queryKey: key }, before) ? answer : undefined,
  });
