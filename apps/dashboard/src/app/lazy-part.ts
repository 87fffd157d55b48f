/**
 * A heavy part of a page, such as a chart, which the page does not wait for. It is fetched when it is shown first, or soon after the
 * start by `usePageSupply`: later it may be gone from the gateway, another version of which names its scripts otherwise.
 */
import { lazyRouteComponent } from '@tanstack/react-router';

/** Fetches one; never rejects: a part that fails is fetched again when it is shown. */
type Fetch = () => Promise<void>;

const fetches: Fetch[] = [];

/** To be called once for each part, as its page's code is loaded; shown within a `Suspense`. */
export const lazyPart: typeof lazyRouteComponent = (load, exportName) => {
  const part = lazyRouteComponent(load, exportName);
  if (part.preload) fetches.push(part.preload as Fetch);
  return part;
};

/** Of the pages whose code is there. */
export const fetchParts = (): Promise<unknown> => Promise.all(fetches.map((fetchPart) => fetchPart()));
