/** Whether the page is narrower than the `md` breakpoint of styles.css: for what differs in structure, not only in looks. */
import { useSyncExternalStore } from 'react';

const query = matchMedia('(width < 62rem)');

function subscribe(listener: () => void): () => void {
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

export const isPhoneNow = (): boolean => query.matches;

export const useIsPhone = (): boolean => useSyncExternalStore(subscribe, isPhoneNow);
