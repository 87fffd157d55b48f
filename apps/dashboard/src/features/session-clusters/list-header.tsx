/** Column heads; those that can order the list are buttons. */
import { ArrowDown } from 'lucide-react';
import { cx, GridColumnHeader, GridRow, GridRowGroup } from '../../ui';
import type { Sort } from './list-search';
import { GRID_COLUMNS, WIDE_ONLY } from './session-row';
import { useSetListSearch } from './use-set-list-search';

const columns: { label: string; sort?: Sort; alignsRight?: boolean; isWideOnly?: boolean }[] = [
  { label: 'Severity', sort: 'severity' },
  { label: 'Session', sort: 'started' },
  { label: 'Agent' },
  { label: 'Last intent' },
  { label: 'Last tool', isWideOnly: true },
  { label: 'Window' },
  { label: 'Steps/min', sort: 'steps_per_minute', alignsRight: true, isWideOnly: true },
  { label: 'Cost', sort: 'cost', alignsRight: true, isWideOnly: true },
  { label: 'Seen', sort: 'last_seen', alignsRight: true },
  { label: 'Control' },
];

export function ListHeader({ sort }: { sort: Sort }) {
  const set = useSetListSearch();
  return (
    <GridRowGroup className="sticky top-0 z-10 bg-surface">
      <GridRow
        aria-rowindex={1}
        className={cx(GRID_COLUMNS, 'h-8 items-center border-line border-b text-2xs text-muted')}
      >
        {columns.map((column) => {
          const isChosen = column.sort === sort;
          return (
            <GridColumnHeader
              key={column.label}
              aria-sort={isChosen ? 'descending' : undefined}
              className={cx(
                'font-medium whitespace-nowrap',
                column.alignsRight && 'text-right',
                column.isWideOnly && WIDE_ONLY,
              )}
            >
              {column.sort ? (
                <button
                  type="button"
                  className={cx('inline-flex items-center gap-0.5 hover:text-fg', isChosen && 'text-fg')}
                  onClick={() => set({ sort: column.sort === 'severity' ? undefined : column.sort })}
                >
                  {column.label}
                  {isChosen ? <ArrowDown size={11} aria-hidden="true" /> : null}
                </button>
              ) : (
                column.label
              )}
            </GridColumnHeader>
          );
        })}
      </GridRow>
    </GridRowGroup>
  );
}
