/** The stream's filters: words, two choices, and what was picked from a row. */
import { X } from 'lucide-react';
import { ACTION_STATUSES, type ActionStatus, SEVERITIES, type Severity } from '#contracts';
import { SearchBox } from '../../app/search-box';
import { SEVERITY_LABELS, Select, truncateMiddle } from '../../ui';
import type { StreamFilter } from './stream-filter';

interface StreamFiltersProps {
  filter: StreamFilter;
  onChange: (change: Partial<StreamFilter>) => void;
}

const STATUS_OPTIONS: readonly { value: ActionStatus | ''; label: string }[] = [
  { value: '', label: 'Any status' },
  ...ACTION_STATUSES.map((value) => ({ value, label: `${value[0]?.toUpperCase()}${value.slice(1)}` })),
];
const SEVERITY_OPTIONS: readonly { value: Severity | ''; label: string }[] = [
  { value: '', label: 'Any severity' },
  ...SEVERITIES.map((value) => ({ value, label: SEVERITY_LABELS[value] })),
];

export function StreamFilters({ filter, onChange }: StreamFiltersProps) {
  return (
    <>
      <SearchBox
        label="Filter the stream"
        placeholder="Words, or agent:planner tool:search"
        value={filter.q}
        onChange={(q) => onChange({ q })}
        className="min-w-0 flex-1 max-md:basis-full md:max-w-96"
      />
      <Select
        label="Status"
        value={filter.status}
        options={STATUS_OPTIONS}
        onChange={(status) => onChange({ status })}
        highlighted={filter.status !== ''}
      />
      <Select
        label="Severity"
        value={filter.severity}
        options={SEVERITY_OPTIONS}
        onChange={(severity) => onChange({ severity })}
        highlighted={filter.severity !== ''}
      />
      {(['agent', 'session', 'tool'] as const).map((name) =>
        filter[name] ? (
          <button
            key={name}
            type="button"
            onClick={() => onChange({ [name]: '' })}
            aria-label={`Remove the filter ${name} ${filter[name]}`}
            className="inline-flex h-8 min-w-0 items-center gap-1.5 rounded-md border border-accent bg-accent-soft px-2 text-accent text-xs max-md:h-10"
          >
            <span>{name}</span>
            <span className="truncate font-mono">{truncateMiddle(filter[name], 22)}</span>
            <X size={12} aria-hidden="true" />
          </button>
        ) : null,
      )}
    </>
  );
}
