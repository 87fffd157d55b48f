/** What narrows the session list, each as a choice of one. */
import { offeredOptions, SEVERITY_LABELS, Select, type SelectOption } from '../../ui';
import type { ControlFilter, EndedFilter, ListSearch } from './list-search';
import { useSetListSearch } from './use-set-list-search';

const ALL = 'all';

const severities: SelectOption<NonNullable<ListSearch['severity']> | typeof ALL>[] = [
  { value: ALL, label: 'Any severity' },
  ...(['loop', 'warning', 'normal'] as const).map((value) => ({ value, label: SEVERITY_LABELS[value] })),
];
const controls: SelectOption<ControlFilter | typeof ALL>[] = [
  { value: ALL, label: 'Any control' },
  { value: 'active', label: 'Running' },
  { value: 'paused', label: 'Paused' },
  { value: 'waiting', label: 'Waits for a person' },
  { value: 'terminated', label: 'Terminated' },
  { value: 'enforced', label: 'Enforced' },
  { value: 'cooperative', label: 'Cooperative' },
  { value: 'observe_only', label: 'Observe only' },
];
const endeds: SelectOption<EndedFilter | typeof ALL>[] = [
  { value: ALL, label: 'Live and ended' },
  { value: 'live', label: 'Live' },
  { value: 'ended', label: 'Ended' },
];
/** Agents offered for choice; the search finds the others. */
const AGENTS_SHOWN_MAX = 200;

interface FilterSelectsProps {
  search: ListSearch;
  agentIds: readonly string[];
}

export function FilterSelects({ search, agentIds }: FilterSelectsProps) {
  const set = useSetListSearch();
  const orAbsent = <V extends string>(value: V | typeof ALL): V | undefined =>
    value === ALL ? undefined : value;
  const agents = offeredOptions({
    any: { value: ALL, label: 'Any agent' },
    values: agentIds,
    chosen: search.agent,
    countMax: AGENTS_SHOWN_MAX,
    elsewhere: 'found by the search',
  });
  return (
    <>
      <Select
        label="Severity"
        value={search.severity ?? ALL}
        options={severities}
        highlighted={Boolean(search.severity)}
        onChange={(value) => set({ severity: orAbsent(value) })}
      />
      <Select
        label="Control"
        value={search.control ?? ALL}
        options={controls}
        highlighted={Boolean(search.control)}
        onChange={(value) => set({ control: orAbsent(value) })}
      />
      <Select
        label="Agent"
        value={search.agent ?? ALL}
        options={agents}
        highlighted={Boolean(search.agent)}
        onChange={(value) => set({ agent: orAbsent(value) })}
        className="max-w-44 *:truncate"
      />
      <Select
        label="Live or ended"
        value={search.ended ?? ALL}
        options={endeds}
        highlighted={Boolean(search.ended)}
        onChange={(value) => set({ ended: orAbsent(value) })}
      />
    </>
  );
}
