/**
 * A heavy part of a page, such as a chart, which the page does not wait for. It is fetched when it is shown first, or soon after the
 * start by `usePageSupply`: later it may be gone from the gateway, another version of which names its scripts otherwise.
 */
import { lazyRouteComponent } from '@tanstack/react-router';

/** Fetches one; never rejects: a part that fails is fetched again when it is shown. */
type Fetch = () => Promise<void>;

const fetches: Fetch[] = [];

const ASK_EVERY_MS = 2_000;

const isAnswered = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store' }).then(
    () => true,
    () => false,
  );

/**
 * For a part that cannot be fetched the router loads the whole dashboard again. While nobody is there to answer that would leave the
 * browser's own error page in its place, so until then the part is waited for.
 */
async function fetchedWhenAnswered<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (await isAnswered()) throw error;
    do await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    while (!(await isAnswered()));
    return await load();
  }
}

/** To be called once for each part, as its page's code is loaded; shown within a `Suspense`. */
export const lazyPart: typeof lazyRouteComponent = (load, exportName) => {
  const part = lazyRouteComponent(() => fetchedWhenAnswered(load), exportName);
  if (part.preload) fetches.push(part.preload as Fetch);
  return part;
};

/** Of the pages whose code is there. */
export const fetchParts = (): Promise<unknown> => Promise.all(fetches.map((fetchPart) => fetchPart()));
