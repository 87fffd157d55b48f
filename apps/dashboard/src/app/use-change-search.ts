/** Writing to the address of the page one is on. */
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { dropAbsent } from './search-values';

/** Returns a function that changes part of the address; undefined removes a member. Replaces the history entry. */
export function useChangeSearch<S extends object>(): (change: { [K in keyof S]?: S[K] | undefined }) => void {
  const navigate = useNavigate();
  return useCallback(
    (change) =>
      void navigate({
        to: '.',
        replace: true,
        search: ((before: S) => dropAbsent({ ...before, ...change })) as never,
      }),
    [navigate],
  );
}
