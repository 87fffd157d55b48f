/** Settings that take effect on the next message, without a restart. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { RuntimeConfigAnswer, RuntimeConfigPatch } from '#contracts';
import { ApiError, api, configQuery, showAnswer, useDenialForAllTenants, withoutSent } from '../../api';
import { useEdits } from '../../app/use-draft';
import { Callout, Panel, SaveBar, Skeleton, toast, useFocusFirstError } from '../../ui';
import {
  type ConfigEdits,
  type FieldErrors,
  fieldErrorsOf,
  SETTING_GROUPS,
  toPatch,
  toText,
} from './config-form';
import { SettingField } from './setting-field';

const NO_EDITS: ConfigEdits = {};

export function ConfigSection() {
  const { data, error } = useQuery(configQuery);
  // Read once, it stays where it is whatever comes of the next reading: something may be typed in it.
  if (data) return <ConfigForm answer={data} />;
  return error ? <Callout tone="danger">{error.message}</Callout> : <Skeleton className="h-96 w-full" />;
}

function ConfigForm({ answer }: { answer: RuntimeConfigAnswer }) {
  const { values, defaults, warnings } = answer;
  const queryClient = useQueryClient();
  const denial = useDenialForAllTenants();
  const [edits, setEdits] = useEdits('settings', NO_EDITS);
  const [errors, setErrors] = useState<FieldErrors>({});
  const form = useFocusFirstError(errors);
  const { patch, errors: typos } = toPatch(edits, values);
  const changeCount = Object.keys(patch).length + Object.keys(typos).length;

  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ change }: Saving) => api.patch<RuntimeConfigAnswer>('/v1/config', change),
    onSuccess: (next, { sent }) => {
      showAnswer(queryClient, configQuery.queryKey, next);
      setEdits((current) => withoutSent(current, sent));
      setErrors({});
      toast({ title: 'Settings saved', description: 'In force from the next message on.', tone: 'success' });
    },
    onError: (refusal) => {
      if (refusal instanceof ApiError) setErrors(fieldErrorsOf(refusal.fields, refusal.message));
    },
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setErrors(typos);
    if (!denial && Object.keys(typos).length === 0 && changeCount > 0) mutate({ change: patch, sent: edits });
  };
  const isGeneral = error !== null && Object.keys(errors).length === 0;
  return (
    <form ref={form} onSubmit={submit} noValidate className="flex flex-col gap-4">
      {denial ? <Callout>{denial} You can look, not change.</Callout> : null}
      {warnings.length > 0 ? (
        <Callout tone="warning" icon={<TriangleAlert size={14} aria-hidden="true" />}>
          <ul className="flex flex-col gap-1">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Callout>
      ) : null}
      {SETTING_GROUPS.map(({ title, settings }) => (
        <Panel key={title} title={title} bodyClassName="divide-y divide-line">
          {settings.map((setting) => (
            <SettingField
              key={setting.key}
              setting={setting}
              text={edits[setting.key] ?? toText(setting, values[setting.key])}
              defaultText={toText(setting, defaults[setting.key])}
              isDefault={values[setting.key] === defaults[setting.key]}
              error={errors[setting.key]}
              denial={denial}
              onChange={(text) => {
                setEdits({ ...edits, [setting.key]: text });
                setErrors({ ...errors, [setting.key]: undefined });
              }}
              onReset={() =>
                mutate({ change: { [setting.key]: null }, sent: { [setting.key]: edits[setting.key] } })
              }
            />
          ))}
        </Panel>
      ))}
      {isGeneral ? (
        <Callout tone="danger" alert>
          {error.message}
        </Callout>
      ) : null}
      <SaveBar
        changeCount={changeCount}
        label="Save changes"
        testId="config-save"
        isPending={isPending}
        denial={denial}
        onDiscard={() => {
          setEdits(NO_EDITS);
          setErrors({});
        }}
      />
    </form>
  );
}

interface Saving {
  change: RuntimeConfigPatch;
  /** The texts that say so. */
  sent: ConfigEdits;
}
