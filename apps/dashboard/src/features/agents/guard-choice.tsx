/** One choice of the policy about a guard, and what the choice means. */
import { Select, type SelectOption } from '../../ui';

interface GuardChoiceProps<V extends string> {
  label: string;
  help: string;
  value: V;
  options: readonly SelectOption<V>[];
  texts: Record<V, { text: string }>;
  problem: string | undefined;
  isReadOnly: boolean;
  onChange: (value: V) => void;
}

export function GuardChoice<V extends string>(props: GuardChoiceProps<V>) {
  const { label, help, value, options, texts, problem, isReadOnly, onChange } = props;
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
          options={options}
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
