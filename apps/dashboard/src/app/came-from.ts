/** Which page the one that is shown was reached from: the browser tells nobody. In this tab's memory alone. */
import type { AnyRouter } from '@tanstack/react-router';

/** Paths of the entries of the tab's history, as far as they were shown since the dashboard was loaded. */
const paths: (string | undefined)[] = [];

/** To be called once. */
export function rememberPaths(router: AnyRouter): void {
  router.subscribe('onResolved', ({ toLocation }) => {
    paths[toLocation.state.__TSR_index] = toLocation.pathname;
  });
}

/** That path, whatever its filters, is one step back. */
export const cameFrom = (router: AnyRouter, path: string): boolean =>
  paths[router.history.location.state.__TSR_index - 1] === path;
