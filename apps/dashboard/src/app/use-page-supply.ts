/**
 * Fetches the pages that were not opened yet, soon after the start: on the day the gateway restarts or the network goes,
 * they are at hand. For a page that cannot be fetched the router loads the whole dashboard again, and with nobody there
 * to answer that leaves the browser's own error page in its place.
 */
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { fetchParts } from './lazy-part';

/** The first page has painted and is live by then. */
const SUPPLY_AFTER_MS = 3_000;

export function usePageSupply(): void {
  const { routesById } = useRouter();
  useEffect(() => {
    const timer = setTimeout(() => {
      const pages = Object.values(routesById).map(({ options }) => fetchPage(options.component));
      void Promise.all(pages).then(fetchParts);
    }, SUPPLY_AFTER_MS);
    return () => clearTimeout(timer);
  }, [routesById]);
}

/** Never rejects: a page that fails is fetched again when it is opened. */
const fetchPage = (component: unknown): Promise<void> | undefined =>
  (component as { preload?: () => Promise<void> } | undefined)?.preload?.();
