import { LIMITS } from '#contracts';
import { Field, Input } from '../../ui';

interface ReasonFieldProps {
  /** The agent, or the agents. */
  whose: string;
  value: string;
  /** What is said where nothing is typed. */
  otherwise: string;
  onChange: (reason: string) => void;
}

/** Why somebody stops what an agent does: it reads this, and so does whoever looks into the audit. */
export const ReasonField = ({ whose, value, otherwise, onChange }: ReasonFieldProps) => (
  <Field label={`Reason, for the audit and for whoever runs ${whose}`}>
    <Input
      value={value}
      maxLength={LIMITS.lineCharsMax}
      placeholder={otherwise}
      onChange={(event) => onChange(event.target.value)}
    />
  </Field>
);
