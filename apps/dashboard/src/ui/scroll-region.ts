/** Focusable, because a scrolling region has to be reachable by keyboard; no landmark, since a page may hold many. */
export const scrollRegion = (label: string) => ({ tabIndex: 0, role: 'group', 'aria-label': label });
