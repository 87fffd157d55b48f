/** Whether the page is narrower than the `md` breakpoint: for what differs in structure, not only in looks. */
import { useSyncExternalStore } from 'react';

const query = matchMedia('(max-width: 767.98px)');

function subscribe(listener: () => void): () => void {
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

export const useIsPhone = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
