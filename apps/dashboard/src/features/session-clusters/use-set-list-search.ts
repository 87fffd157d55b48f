/** Writing to the address of the session list. */
import { useNavigate } from '@tanstack/react-router';
import type { ListSearch } from './list-search';

/** Every member that narrows the list, absent. */
export const NO_FILTERS: Partial<ListSearch> = {
  q: undefined,
  severity: undefined,
  control: undefined,
  agent: undefined,
  ended: undefined,
};

/** Returns a function that changes part of the address; undefined removes a member. Replaces the history entry. */
export function useSetListSearch(): (change: Partial<ListSearch>) => void {
  const navigate = useNavigate();
  return (change) => {
    void navigate({
      to: '/',
      replace: true,
      search: (before: ListSearch) =>
        Object.fromEntries(
          Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined),
        ),
    });
  };
}
