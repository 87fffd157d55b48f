/** When the agent may call: days and times on the clock of one time zone, or always. */
import { useId } from 'react';
import type { AllowedHours } from '#contracts';
import type { FieldProblems } from '../../api';
import { cx, Field, Input, Switch, useNow } from '../../ui';
import { clockIn, DAY_NAMES, describeHours, officeHours } from './policy-form';

interface HoursFieldProps {
  hours: AllowedHours | null;
  problems: FieldProblems;
  isReadOnly: boolean;
  onChange: (hours: AllowedHours | null) => void;
}

const ownTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

export function HoursField({ hours, problems, isReadOnly, onChange }: HoursFieldProps) {
  return (
    <fieldset className="border-line border-b px-3 py-3">
      <legend className="sr-only">Allowed hours</legend>
      <div className="flex items-center justify-between gap-2">
        <p aria-hidden="true" className="font-medium">
          Allowed hours
        </p>
        <Switch
          checked={hours !== null}
          disabled={isReadOnly}
          onChange={(isLimited) => onChange(isLimited ? officeHours(ownTimeZone()) : null)}
        >
          Limit the hours
        </Switch>
      </div>
      <p className="text-muted text-xs">{hours ? describeHours(hours) : 'At any hour.'}</p>
      {problems.allowed_hours ? (
        <p role="alert" className="text-danger text-xs">
          {problems.allowed_hours}
        </p>
      ) : null}
      {hours ? (
        <HoursInputs hours={hours} problems={problems} isReadOnly={isReadOnly} onChange={onChange} />
      ) : null}
    </fieldset>
  );
}

function HoursInputs({ hours, problems, isReadOnly, onChange }: HoursFieldProps & { hours: AllowedHours }) {
  const listId = useId();
  const clock = useNow((nowMs) => clockIn(hours.time_zone, nowMs));
  const toggle = (day: number) => {
    const days = hours.days.includes(day)
      ? hours.days.filter((known) => known !== day)
      : [...hours.days, day];
    onChange({ ...hours, days: days.sort((a, b) => a - b) });
  };
  return (
    <div className="mt-2 flex flex-col gap-2">
      <fieldset className="flex gap-1">
        <legend className="sr-only">Days</legend>
        {DAY_NAMES.map((name, index) => (
          <button
            key={name}
            type="button"
            aria-pressed={hours.days.includes(index + 1)}
            aria-disabled={isReadOnly || undefined}
            onClick={() => isReadOnly || toggle(index + 1)}
            className={cx(
              'h-7 flex-1 rounded-md border font-medium text-2xs max-md:h-9',
              hours.days.includes(index + 1)
                ? 'border-accent bg-accent-soft text-accent'
                : 'border-line-strong bg-surface text-muted hover:bg-hover',
            )}
          >
            {name}
          </button>
        ))}
      </fieldset>
      {problems['allowed_hours.days'] ? (
        <p role="alert" className="text-danger text-xs">
          {problems['allowed_hours.days']}
        </p>
      ) : null}
      <div className="grid grid-cols-2 gap-2">
        <Field label="From" error={problems['allowed_hours.from']}>
          <Input
            type="time"
            value={hours.from}
            readOnly={isReadOnly}
            onChange={(event) => onChange({ ...hours, from: event.target.value })}
            className="nums"
          />
        </Field>
        <Field label="To" error={problems['allowed_hours.to']}>
          <Input
            type="time"
            value={hours.to}
            readOnly={isReadOnly}
            onChange={(event) => onChange({ ...hours, to: event.target.value })}
            className="nums"
          />
        </Field>
        <div className="col-span-2">
          <Field
            label="Time zone"
            error={problems['allowed_hours.time_zone']}
            hint={clock ? `It is ${clock} there.` : 'No such time zone is known to this browser.'}
          >
            <Input
              value={hours.time_zone}
              list={listId}
              autoComplete="off"
              readOnly={isReadOnly}
              onChange={(event) => onChange({ ...hours, time_zone: event.target.value })}
            />
          </Field>
        </div>
        <datalist id={listId}>
          {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
    </div>
  );
}
