/** What narrows the calls: choices of what has been seen, and what a link or a row brought. */
import { X } from 'lucide-react';
import { useMemo } from 'react';
import type { CallDecision, LlmCall } from '#contracts';
import { Button, FilterChip, offeredOptions, Select, Switch } from '../../ui';
import { type CallFilter, isCallFiltered, NO_CALL_FILTER } from './calls-search';
import { DECISION_OPTIONS } from './decision-texts';

/** Values offered for choice; a link can name others. */
const OFFERED_MAX = 100;

interface CallsFiltersProps {
  filter: CallFilter;
  /** What the choices are taken from. */
  calls: readonly LlmCall[];
  agentIds: readonly string[];
  onChange: (change: { [K in keyof CallFilter]?: CallFilter[K] | undefined }) => void;
}

export function CallsFilters({ filter, calls, agentIds, onChange }: CallsFiltersProps) {
  const models = useMemo(
    () => [...new Set(calls.flatMap(({ model }) => (model === null ? [] : [model])))].sort(),
    [calls],
  );
  const agents = useMemo(
    () => [...new Set([...agentIds, ...calls.map(({ agent_id }) => agent_id)])].sort(),
    [agentIds, calls],
  );
  return (
    <>
      <NameSelect
        label="Agent"
        any="Any agent"
        names={agents}
        chosen={filter.agent}
        elsewhere="each with its calls on its own page"
        onChange={(agent) => onChange({ agent })}
      />
      <NameSelect
        label="Model"
        any="Any model"
        names={models}
        chosen={filter.model}
        elsewhere="named by Spend"
        onChange={(model) => onChange({ model })}
      />
      <Select<CallDecision | ''>
        label="Decision"
        value={filter.decision ?? ''}
        options={[{ value: '', label: 'Any decision' }, ...DECISION_OPTIONS]}
        highlighted={filter.decision !== undefined}
        onChange={(decision) => onChange({ decision: decision || undefined })}
      />
      {filter.session ? (
        <FilterChip name="session" value={filter.session} onRemove={() => onChange({ session: undefined })} />
      ) : null}
      <Switch
        checked={filter.failed === true}
        onChange={(failed) => onChange({ failed: failed || undefined })}
      >
        Failed only
      </Switch>
      {isCallFiltered(filter) ? (
        <Button
          variant="ghost"
          icon={<X size={14} aria-hidden="true" />}
          onClick={() => onChange(NO_CALL_FILTER)}
        >
          Clear
        </Button>
      ) : null}
    </>
  );
}

interface NameSelectProps {
  label: string;
  /** Of the choice of none. */
  any: string;
  names: readonly string[];
  chosen: string | undefined;
  /** @see offeredOptions */
  elsewhere: string;
  onChange: (name: string | undefined) => void;
}

function NameSelect({ label, any, names, chosen, elsewhere, onChange }: NameSelectProps) {
  return (
    <Select
      label={label}
      value={chosen ?? ''}
      options={offeredOptions({
        any: { value: '', label: any },
        values: names,
        chosen,
        countMax: OFFERED_MAX,
        elsewhere,
      })}
      highlighted={chosen !== undefined}
      onChange={(name) => onChange(name || undefined)}
      className="max-w-48 *:truncate"
    />
  );
}
