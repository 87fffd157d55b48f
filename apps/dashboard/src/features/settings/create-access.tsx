/** Makes a key or an operator: a name, what else it takes, and a button. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api, type FieldProblems, toRefusal } from '../../api';
import { Button, Callout, Field, Input, Panel } from '../../ui';

interface CreateAccessProps {
  title: string;
  path: string;
  /** Sent beside the name. */
  body?: Record<string, unknown>;
  nameHint: string;
  /** Said when the name is left out. */
  nameMissing: string;
  submitLabel: string;
  testId: string;
  onCreated: (secret: string) => void;
  /** More fields, each a member of `body`, given what the gateway objected to in them. */
  children?: (problems: FieldProblems) => ReactNode;
}

export function CreateAccess(props: CreateAccessProps) {
  const { title, path, body = {}, nameHint, nameMissing, submitLabel, testId, onCreated } = props;
  const [name, setName] = useState('');
  const [missing, setMissing] = useState(false);
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => api.post<{ secret: string }>(path, { name: name.trim(), ...body }),
    onSuccess: ({ secret }) => {
      setName('');
      onCreated(secret);
    },
  });
  const refusal = toRefusal(error, (at) => at === 'name' || (at.split('.')[0] as string) in body);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    setMissing(name.trim() === '');
    if (name.trim() !== '') mutate();
  };
  return (
    <Panel title={title}>
      <form onSubmit={submit} onChange={() => error && reset()} className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-56">
          <Field label="Name" hint={nameHint} error={missing ? nameMissing : refusal.fields.name}>
            <Input
              value={name}
              maxLength={100}
              onChange={(event) => {
                setName(event.target.value);
                setMissing(false);
              }}
            />
          </Field>
        </div>
        {props.children?.(refusal.fields)}
        <Button
          type="submit"
          variant="primary"
          data-testid={testId}
          busy={isPending}
          className="max-md:h-10 md:mt-5"
        >
          {submitLabel}
        </Button>
        {refusal.general ? (
          <Callout tone="danger" alert className="w-full">
            {refusal.general}
          </Callout>
        ) : null}
      </form>
    </Panel>
  );
}
