/** Search, filters, order and grouping of the session list. What it shows and changes is the address. */
import { Snowflake, X } from 'lucide-react';
import { memo } from 'react';
import type { SessionView } from '#contracts';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import { SearchBox } from '../../app/search-box';
import { Button, formatCount, plural, Select, type SelectOption, Switch, useIsPhone } from '../../ui';
import { ScrollSideways } from '../../ui/scroll-sideways';
import { BulkMenu } from './bulk-menu';
import { FilterSelects } from './filter-selects';
import { isFiltered, type ListSearch, type Sort } from './list-search';
import { NO_FILTERS, useSetListSearch } from './use-set-list-search';
import { WaitingFilter } from './waiting-filter';

const sorts: SelectOption<Sort>[] = [
  { value: 'severity', label: 'Most urgent first' },
  { value: 'last_seen', label: 'Last seen first' },
  { value: 'started', label: 'Newest first' },
  { value: 'steps_per_minute', label: 'Fastest first' },
  { value: 'cost', label: 'Most expensive first' },
];

interface FilterBarProps {
  search: ListSearch;
  agentIds: readonly string[];
  shownCount: number;
  totalCount: number;
  /** Live sessions for which the list has no room. */
  leftOutCount: number;
  isFrozen: boolean;
  waitingCount: number;
  onFreeze: (isFrozen: boolean) => void;
  /** The sessions of the list, as they are now. */
  listed: () => readonly SessionView[];
}

/** Memoised: the page around it renders with every frame that brings updates. */
export const FilterBar = memo(function FilterBar(props: FilterBarProps) {
  const { search, agentIds } = props;
  const set = useSetListSearch();
  const isPhone = useIsPhone();
  return (
    // biome-ignore lint/a11y/useSemanticElements: the search element is not known to every screen reader yet.
    <div role="search" aria-label="Sessions" className="flex flex-wrap items-center gap-2">
      <SearchBox
        label="Search sessions"
        placeholder="Session, agent, intent or tool"
        value={search.q ?? ''}
        onChange={(q) => set({ q: q || undefined })}
      />
      <div className="max-md:-mx-3 max-md:w-[calc(100%+1.5rem)]">
        <ScrollSideways ground="canvas" className="flex items-center gap-2 p-0.5 max-md:px-3">
          {isPhone ? <WaitingFilter /> : null}
          <FilterSelects search={search} agentIds={agentIds} />
          {isPhone ? <SortSelect search={search} /> : null}
          {isFiltered(search) ? (
            <Button variant="ghost" icon={<X size={14} aria-hidden="true" />} onClick={() => set(NO_FILTERS)}>
              Clear
            </Button>
          ) : null}
        </ScrollSideways>
      </div>
      <ListTools {...props} />
    </div>
  );
});

function SortSelect({ search }: Pick<FilterBarProps, 'search'>) {
  const set = useSetListSearch();
  return (
    <Select
      label="Order"
      value={search.sort ?? 'severity'}
      options={sorts}
      onChange={(sort) => set({ sort: sort === 'severity' ? undefined : sort })}
    />
  );
}

/** How many rows there are, and how they are laid out. */
function ListTools(props: FilterBarProps) {
  const { search } = props;
  const set = useSetListSearch();
  const isPhone = useIsPhone();
  return (
    <div className="ml-auto flex items-center gap-3 max-md:ml-0 max-md:w-full max-md:justify-between">
      <span className="nums text-muted text-xs whitespace-nowrap">{listCount(props)}</span>
      <Switch checked={search.group === true} onChange={(group) => set({ group: group || undefined })}>
        Group
      </Switch>
      {isPhone ? null : <SortSelect search={search} />}
      <FreezeToggle {...props} />
      <BulkMenu listed={props.listed} />
    </div>
  );
}

function listCount({
  shownCount,
  totalCount,
  leftOutCount,
}: Pick<FilterBarProps, 'shownCount' | 'totalCount' | 'leftOutCount'>): string {
  if (shownCount < totalCount)
    return `${formatCount(shownCount)} of ${formatCount(totalCount)}${leftOutCount > 0 ? ' listed' : ''}`;
  if (leftOutCount === 0) return plural(totalCount, 'session');
  return `${formatCount(totalCount)} of ${plural(totalCount + leftOutCount, 'session')}`;
}

function FreezeToggle({
  isFrozen,
  waitingCount,
  onFreeze,
}: Pick<FilterBarProps, 'isFrozen' | 'waitingCount' | 'onFreeze'>) {
  useShortcut('freeze', () => onFreeze(!isFrozen));
  return (
    <Button
      aria-pressed={isFrozen}
      variant={isFrozen ? 'primary' : 'secondary'}
      icon={<Snowflake size={14} aria-hidden="true" />}
      onClick={() => onFreeze(!isFrozen)}
      title="Freeze the list (f). Alerts stay live."
    >
      {isFrozen ? <span className="nums">Frozen · {formatCount(waitingCount)} waiting</span> : 'Freeze'}
    </Button>
  );
}
