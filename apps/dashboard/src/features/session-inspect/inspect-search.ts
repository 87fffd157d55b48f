/** The inspect page's state in the address. */
const INSPECT_TABS = ['timeline', 'causes', 'scratchpad', 'calls'] as const;
export type InspectTab = (typeof INSPECT_TABS)[number];

export interface InspectSearch {
  /** Absent: timeline. */
  tab?: InspectTab;
}

export function parseInspectSearch(search: Record<string, unknown>): InspectSearch {
  const tab = INSPECT_TABS.find((known) => known === search.tab);
  return tab ? { tab } : {};
}
