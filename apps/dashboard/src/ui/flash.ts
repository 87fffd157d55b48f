/**
 * One beat for everything that flashes: two frames in 1.1 s, however much loops. An endless animation draws sixty a
 * second instead, each with as many layers, and the alert that comes next waits behind them.
 *
 * Sets `data-flash` on the root element, which `flashes` (styles.css) looks at.
 */
const BEAT_MS = 550;

/** To be called once. Stands still where people ask for less motion, and where nobody looks. */
export function startFlashing(): void {
  const { dataset } = document.documentElement;
  const reduced = matchMedia('(prefers-reduced-motion: reduce)');
  setInterval(() => {
    if (dataset.flash !== undefined || reduced.matches) delete dataset.flash;
    else if (document.visibilityState === 'visible') dataset.flash = 'low';
  }, BEAT_MS);
}
