/** A filter in force that was picked from a row; pressing it lifts the filter. */
import { X } from 'lucide-react';
import { truncateMiddle } from './format';

interface FilterChipProps {
  /** What is filtered by, such as "agent". */
  name: string;
  value: string;
  onRemove: () => void;
}

export function FilterChip({ name, value, onRemove }: FilterChipProps) {
  return (
    <button
      type="button"
      onClick={onRemove}
      aria-label={`Remove the filter ${name} ${value}`}
      title={value}
      className="inline-flex h-8 min-w-0 items-center gap-1.5 rounded-md border border-accent bg-accent-soft px-2 text-accent text-xs max-md:h-10"
    >
      <span>{name}</span>
      <span className="truncate font-mono">{truncateMiddle(value, 22)}</span>
      <X size={12} aria-hidden="true" className="shrink-0" />
    </button>
  );
}
