/** Makes a key or an operator: a name, what else it takes, and a button. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api } from '../../api';
import { Button, Field, Input, Panel } from '../../ui';

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
  /** More fields. */
  children?: ReactNode;
}

export function CreateAccess(props: CreateAccessProps) {
  const { title, path, body, nameHint, nameMissing, submitLabel, testId, onCreated } = props;
  const [name, setName] = useState('');
  const [missing, setMissing] = useState(false);
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => api.post<{ secret: string }>(path, { name: name.trim(), ...body }),
    onSuccess: ({ secret }) => {
      setName('');
      onCreated(secret);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    setMissing(name.trim() === '');
    if (name.trim() !== '') mutate();
  };
  return (
    <Panel title={title} bodyClassName="p-4">
      <form onSubmit={submit} className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-56">
          <Field label="Name" hint={nameHint} error={missing ? nameMissing : error?.message}>
            <Input
              value={name}
              maxLength={100}
              onChange={(event) => {
                setName(event.target.value);
                setMissing(false);
                if (error) reset();
              }}
            />
          </Field>
        </div>
        {props.children}
        <Button
          type="submit"
          variant="primary"
          data-testid={testId}
          busy={isPending}
          className="max-md:h-10 md:mt-5"
        >
          {submitLabel}
        </Button>
      </form>
    </Panel>
  );
}
