/** One choice of the policy about a guard, and what the choice means. */
import { Select } from '../../ui';
import type { ChoiceField } from './policy-form';

interface GuardChoiceProps extends Omit<ChoiceField, 'key'> {
  value: string;
  problem: string | undefined;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}

export function GuardChoice(props: GuardChoiceProps) {
  const { label, help, value, values, texts, problem, isReadOnly, onChange } = props;
  return (
    <div className="border-line border-b px-3 py-3">
      <div className="flex items-center justify-between gap-3">
        <div className="min-w-0">
          <p className="font-medium">{label}</p>
          <p className="text-muted text-xs">{help}</p>
        </div>
        <Select
          label={label}
          value={value}
          options={values.map((one) => ({ value: one, label: texts[one]?.label }))}
          disabled={isReadOnly}
          onChange={onChange}
          className="w-48 shrink-0 max-md:w-44"
        />
      </div>
      <p className="mt-1.5 text-muted text-xs">{texts[value]?.text}</p>
      {problem ? (
        <p role="alert" className="text-danger text-xs">
          {problem}
        </p>
      ) : null}
    </div>
  );
}
