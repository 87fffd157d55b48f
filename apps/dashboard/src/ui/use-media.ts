/** Whether a media query holds, kept up to date. */
import { useSyncExternalStore } from 'react';

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** Tailwind's `max-md`. */
export const useIsPhone = (): boolean => useMedia('(max-width: 767.98px)');
