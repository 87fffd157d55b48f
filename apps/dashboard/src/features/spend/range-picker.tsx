/** Which time is looked at: the last hours or days, or days of one's own. */
import { CalendarDays } from 'lucide-react';
import { useState } from 'react';
import { Button, Input } from '../../ui';
import { Segmented } from '../../ui/segmented';
import type { Span } from './spend-range';
import { SPEND_RANGES, type SpendRange, type SpendSearch } from './spend-search';

const LABELS: Record<SpendRange, string> = {
  today: 'Today',
  '24h': '24 h',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
};

interface RangePickerProps {
  search: SpendSearch;
  span: Span;
  onChange: (change: { [K in keyof SpendSearch]?: SpendSearch[K] | undefined }) => void;
}

const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export function RangePicker({ search, span, onChange }: RangePickerProps) {
  const isCustom = search.from !== undefined;
  const from = search.from ?? dayText(span.from_ms);
  const to = search.to ?? dayText(span.to_ms - 1);
  return (
    <>
      <Segmented<SpendRange | 'custom'>
        label="Range"
        value={isCustom ? 'custom' : (search.range ?? '7d')}
        options={[
          ...SPEND_RANGES.map((value) => ({ value, label: LABELS[value] })),
          { value: 'custom' as const, label: <CalendarDays size={13} aria-label="Days of your own" /> },
        ]}
        onChange={(range) =>
          range === 'custom'
            ? onChange({ from, to, range: undefined })
            : onChange({ from: undefined, to: undefined, range: range === '7d' ? undefined : range })
        }
      />
      {isCustom ? <Days key={`${from} ${to}`} from={from} to={to} onChange={onChange} /> : null}
    </>
  );
}

function Days({ from, to, onChange }: { from: string; to: string } & Pick<RangePickerProps, 'onChange'>) {
  const [draft, setDraft] = useState({ from, to });
  const isValid = draft.from !== '' && draft.to !== '' && draft.from <= draft.to;
  const isChanged = draft.from !== from || draft.to !== to;
  return (
    <form
      className="flex items-center gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onChange(draft);
      }}
    >
      <Input
        type="date"
        aria-label="From"
        value={draft.from}
        onChange={(event) => setDraft({ ...draft, from: event.target.value })}
        className="nums !w-36"
      />
      <span className="text-muted">to</span>
      <Input
        type="date"
        aria-label="To"
        aria-invalid={isValid ? undefined : true}
        value={draft.to}
        onChange={(event) => setDraft({ ...draft, to: event.target.value })}
        className="nums !w-36"
      />
      {isChanged ? (
        <Button type="submit" disabledReason={isValid ? null : 'The first day has to come before the last.'}>
          Show
        </Button>
      ) : null}
    </form>
  );
}
