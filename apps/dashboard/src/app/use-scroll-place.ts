/**
 * A list that one comes back to stands where it was left: its place belongs to its entry in the history of the tab, so that a
 * list that is opened anew begins at its top. In this tab's memory alone.
 */
import { useRouterState } from '@tanstack/react-router';
import { type RefObject, useLayoutEffect } from 'react';

/** The oldest gives way. */
const PLACE_COUNT_MAX = 50;

const places = new Map<string, number>();

/**
 * After `useVirtualizer`, which scrolls to its own beginning.
 *
 * @param isFilled its rows are there: until then it has no height to be scrolled in
 */
export function useScrollPlace(scroller: RefObject<HTMLElement | null>, isFilled: boolean): void {
  // The entry whose page is shown: that of the next one is there before this page has gone.
  const entry = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.state.__TSR_key });
  useLayoutEffect(() => {
    const list = scroller.current;
    if (!isFilled || !list || entry === undefined) return;
    const top = places.get(entry);
    if (top !== undefined) list.scrollTop = top;
    return () => keep(entry, list.scrollTop);
  }, [scroller, isFilled, entry]);
}

function keep(entry: string, top: number): void {
  places.delete(entry);
  places.set(entry, top);
  const [oldest] = places.keys();
  if (places.size > PLACE_COUNT_MAX && oldest !== undefined) places.delete(oldest);
}
